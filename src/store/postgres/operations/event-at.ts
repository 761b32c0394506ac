/**
 * One event by its namespace, session, branch and seq, which are $1 to $4. The order leaves PostgreSQL only the primary
 * key to choose: without statistics, every index that starts with the session looks equally good to it, and the one of
 * ids goes through the whole session.
 */
export const eventAtSql = `events WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND seq BETWEEN $4 AND $4 ORDER BY seq LIMIT 1`;
