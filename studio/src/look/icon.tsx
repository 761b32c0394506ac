/** Pictures that fonts often lack, as paths in a square of 16. */
const paths = {
  fork: 'M4 2v12M4 9c0-3 8-2 8-6M10 5l2-2 2 2',
  copy: 'M6 6h7v7H6zM10 6V3H3v7h3',
  first: 'M4 3v10M13 3l-6 5 6 5z',
  last: 'M12 3v10M3 3l6 5-6 5z',
  before: 'M10 3L5 8l5 5',
  after: 'M6 3l5 5-5 5',
  play: 'M5 3l8 5-8 5z',
  find: 'M7 3a4 4 0 100 8 4 4 0 000-8zM10 10l4 4',
  pencil: 'M3 13l1-3 7-7 2 2-7 7zM9.5 4.5l2 2',
} as const;

/** The name of a picture. */
export type IconName = keyof typeof paths;

/** A small picture in the color of the words around it. */
export function Icon({ name }: { readonly name: IconName }): React.ReactNode {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
