/** The project that a program works on: the root of its git repository, and the folder in it that the program runs in. */
export interface Project {
  /** The absolute path of the root, with `/` between its parts and none at the end. */
  readonly root: string;
  /** The folder of the program within the root; empty if it is the root itself. */
  readonly folder: string;
}

/** Returns a path relative to the root of a project; a path outside of it stays as it is. */
export function projectPath(path: string, project: Project | undefined): string {
  const slashed = path.replaceAll('\\', '/');
  if (isAbsolute(slashed)) {
    if (project === undefined) return path;
    return slashed.startsWith(`${project.root}/`) ? (normal(slashed.slice(project.root.length + 1)) ?? path) : path;
  }
  const folder = project?.folder ?? '';
  return normal(folder === '' ? slashed : `${folder}/${slashed}`) ?? path;
}

/** Returns a test id whose file is relative to the root of a project. */
export function projectTest(test: string, project: Project | undefined): string {
  const end = test.indexOf('::');
  const file = end < 0 ? test : test.slice(0, end);
  // Not every id begins with a file: one that has neither a folder nor an ending names something else.
  const isFile = isAbsolute(file) || (/[\\/.]/.test(file) && !/\s/.test(file));
  return isFile ? `${projectPath(file, project)}${end < 0 ? '' : test.slice(end)}` : test;
}

/** Returns text in which paths of a project are relative to its root. */
export function projectText(text: string, project: Project | undefined): string {
  return project === undefined || project.root === '' ? text : text.replaceAll(`${project.root}/`, '');
}

const isAbsolute = (path: string): boolean => path.startsWith('/') || /^[A-Za-z]:\//.test(path);

/** Resolves `.` and `..`; undefined for a path that leads out of the root. */
function normal(path: string): string | undefined {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  const end = path.endsWith('/') && parts.length > 0 ? '/' : '';
  return `${parts.join('/')}${end}`;
}
