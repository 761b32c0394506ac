/** A seq that goes there. */
export function SeqLink({
  seq,
  onGo,
}: {
  readonly seq: number;
  readonly onGo: (seq: number) => void;
}): React.ReactNode {
  return (
    <button type="button" className="link mono" aria-label={`@${seq}, go to this event`} onClick={() => onGo(seq)}>
      @{seq}
    </button>
  );
}
