import { memo } from 'react';

/** Characters that would act instead of showing: controls, direction marks, invisible ones. Line breaks and tabs stay. */
export const acting =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc\ufffe\uffff]/g;

/** Returns a visible sign for a character that would act: its number, which every font has. */
const signOf = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Splits a string into what is shown as it is, and characters that get a sign. */
export function signedPieces(text: string): readonly { readonly text: string; readonly isSign: boolean }[] {
  const pieces: { text: string; isSign: boolean }[] = [];
  let from = 0;
  for (const { index, 0: character } of text.matchAll(acting)) {
    if (index > from) pieces.push({ text: text.slice(from, index), isSign: false });
    pieces.push({ text: signOf(character), isSign: true });
    from = index + character.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isSign: false });
  return pieces;
}

/** Shows recorded text as text: nothing in it acts, and its direction does not reach what is around it. */
export const RecordedText = memo(function RecordedText({
  text,
  as: Tag = 'span',
}: {
  readonly text: string;
  readonly as?: 'span' | 'pre' | 'p';
}): React.ReactNode {
  if (text.search(acting) < 0)
    return (
      <Tag className="recorded" dir="auto">
        {text}
      </Tag>
    );
  return (
    <Tag className="recorded" dir="auto">
      {signedPieces(text).map((piece, at) =>
        piece.isSign ? (
          <span key={at} className="sign">
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </Tag>
  );
});
