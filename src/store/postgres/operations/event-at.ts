/**
 * One event by its namespace, session, branch and seq, which are $1 to $4. It is asked for in order although there is only
 * one: until PostgreSQL has statistics, every index that begins with the session looks as good to it as any other, and the
 * one of ids goes through the whole session. The order is one that the primary key alone can give.
 */
export const eventAtSql = `events WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND seq BETWEEN $4 AND $4 ORDER BY seq LIMIT 1`;
