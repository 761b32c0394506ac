import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { isPlace, type RunAddress, runAddress } from '../address/address.ts';
import type { ForkDrawerProps } from '../fork/fork-drawer.tsx';
import { refOf, useStudio } from '../frame/studio.ts';
import { openingSeq } from '../history/neighbours.ts';
import { EventList, spokenRow } from '../list/event-list.tsx';
import { FilterBar } from '../list/filter-bar.tsx';
import { type Fold, listRows } from '../list/list-rows.ts';
import { useFilter } from '../list/use-filter.ts';
import { useCell } from '../parts/cell.ts';
import { Split } from '../parts/split.tsx';
import { Failure } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import { useThrottled } from '../parts/use-throttled.ts';
import type { PointName } from '../source/studio-source.ts';
import { Strip } from '../strip/strip.tsx';
import { useBranches, useForks } from '../tree/use-branches.ts';
import { BottomBar } from './bottom-bar.tsx';
import { Facts } from './facts.tsx';
import { Panels } from './panels.tsx';
import { useRunActions } from './run-actions.ts';
import { RunHead } from './run-head.tsx';
import { UnknownPlace } from './unknown-place.tsx';

// Most runs are over: what is only there while one is under way or waits is loaded then.
const RunBanner = lazy(async () => ({ default: (await import('./run-banner.tsx')).RunBanner }));
const WaitingBanner = lazy(async () => ({ default: (await import('./waiting-banner.tsx')).WaitingBanner }));
const OriginalStrip = lazy(async () => ({ default: (await import('./original-strip.tsx')).OriginalStrip }));
const ForkDrawer = lazy(async () => ({ default: (await import('../fork/fork-drawer.tsx')).ForkDrawer }));

/** The run at a point. A word in the address becomes the seq it means first. */
export function RunScreen({ address }: { readonly address: RunAddress }): React.ReactNode {
  const { source, namespace, bar } = useStudio();
  const { session, branch, at } = address;
  const isSeq = isPlace(address);
  const found = useAnswer(
    isSeq ? undefined : `locate ${session} ${branch} ${at}`,
    (signal) => source.locate(namespace, session, `${encodeURIComponent(branch)}@${at}`, signal),
    { keep: false },
  );
  const place = found.value;
  /** The head that the address meant; the history may have grown since. */
  const headAt = useRef<number>(undefined);
  useEffect(() => {
    if (isSeq || place === undefined) return;
    headAt.current = at === 'head' ? place.seq : undefined;
    bar.replace({ ...address, session: place.session, branch, at: String(place.seq) });
  }, [isSeq, place]);
  if (!isSeq)
    return found.error === undefined ? (
      <div className="screen" />
    ) : (
      <UnknownPlace error={found.error} address={address} onAgain={found.again} />
    );
  return <OpenRun key={`${session}\n${branch}`} address={address} headAt={headAt.current} />;
}

/** How often the branches of a session that grows are read again. */
const branchesMs = 2_000;

function OpenRun({
  address,
  headAt,
}: {
  readonly address: RunAddress;
  readonly headAt: number | undefined;
}): React.ReactNode {
  const studio = useStudio();
  const { namespace, bar } = studio;
  const { session, branch } = address;
  const name = useMemo(() => ({ namespace, session, branch }), [namespace, session, branch]);
  const seq = Number(address.at);
  const { history, gists } = useMemo(() => studio.open(name, seq), [studio, name]);
  const progress = useCell(history.progress);
  const { index } = history;
  const rights = useCell(studio.rights);
  const pin = useCell(studio.pin);
  useEffect(() => studio.show([name]), [studio, name]);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [hovered, setHovered] = useState<number>();
  const [ticks, setTicks] = useState<readonly number[]>([]);
  const [draft, setDraft] = useState<ForkDrawerProps['first']>();
  const filtered = useFilter(name, index, progress.version, address.filter, address.raw);
  const rows = useMemo(
    () => listRows(index, { raw: address.raw, isMatch: filtered.isMatch, opened }),
    [index, progress.version, address.raw, filtered.isMatch, opened],
  );
  const branches = useBranches(session, useThrottled(progress.head, branchesMs)).value;
  const forks = useForks(branches, branch);
  const own = branches?.find((each) => each.branch === branch);
  const parent = own?.parent ?? null;
  const every = useCell(studio.runs);
  const runs = every.filter((run) => run.session === session && run.branch === branch);
  const isFollowing = useFollowing({
    isRunning: runs.some(({ endedAt }) => endedAt === null),
    isHeld: draft !== undefined,
    seq,
    head: progress.head,
    headAt,
    onHead: (head) => bar.replace({ ...address, at: String(head) }),
  });
  const point: PointName = { ...name, seq: Math.min(seq, Math.max(progress.head, progress.isLoading ? seq : 0)) };
  const set = (change: Partial<RunAddress>): void => bar.replace({ ...address, ...change });
  const select = (to: number): void => set({ at: String(to) });
  const pinHere =
    pin !== undefined && pin.session === session && pin.branch === branch ? { ...name, seq: pin.seq } : undefined;
  const fork =
    rights.append || rights.run
      ? (edit?: NonNullable<ForkDrawerProps['first']>['edit']) => setDraft({ edit, at: Date.now() })
      : undefined;
  const next = useCell(studio.forkNext);
  useEffect(() => {
    if (next?.session !== session || next.branch !== branch || fork === undefined) return;
    studio.forkNext.set(undefined);
    fork();
  }, [next, fork === undefined]);
  const onFold = (fold: Fold): void => {
    if (fold.why === 'outside') return set({ raw: true });
    const next = new Set(opened);
    if (!next.delete(fold.from)) next.add(fold.from);
    setOpened(next);
  };
  const shownTicks = ticks.length > 0 ? ticks : filtered.hits;
  const play = useRunActions({
    address,
    point,
    index,
    rows,
    hits: shownTicks,
    head: progress.head,
    select,
    set,
    onFork: fork === undefined ? undefined : () => fork(),
  });
  if (progress.error !== undefined && progress.head === 0)
    return <UnknownPlace error={progress.error} address={address} onAgain={() => history.load(seq)} />;
  const shown = hovered ?? point.seq;
  return (
    <div className="run" data-loading={progress.isLoading || undefined}>
      <RunHead
        name={name}
        branch={own}
        index={index}
        progress={progress}
        scale={address.scale}
        onScale={(scale) => set({ scale, range: undefined })}
        onOpenError={() => select(openingSeq(index))}
      />
      <div className="banners">
        {progress.error === undefined ? null : <Failure error={progress.error} onAgain={() => history.load(seq)} />}
        <Suspense>{every.length > 0 ? <RunBanner name={name} /> : null}</Suspense>
        <Suspense>
          {own?.outcome === 'waiting' && !progress.isLoading ? (
            <WaitingBanner head={{ ...name, seq: progress.head }} />
          ) : null}
        </Suspense>
      </div>
      <div className="run-strips">
        <Suspense>{runs.length > 0 && parent !== null ? <OriginalStrip name={name} parent={parent} /> : null}</Suspense>
        <div className="run-strip">
          <Strip
            index={index}
            version={progress.version}
            scale={address.scale}
            range={address.range}
            selected={point.seq}
            pinned={pinHere?.seq}
            isMatch={filtered.isMatch}
            ticks={shownTicks}
            forks={forks}
            spoken={`${branch} ${spokenRow(index, point.seq)}`}
            onSelect={select}
            onHover={setHovered}
            onRange={(range) => set({ range })}
          />
          {hovered === undefined || hovered === point.seq ? null : (
            <HoverLine text={spokenRow(index, shown, gists.line(shown))} />
          )}
        </div>
      </div>
      <Split
        name="list"
        label="Width of the list"
        initial={globalThis.innerWidth >= 1_600 ? 480 : 360}
        min={220}
        max={720}
      >
        <section className="run-list" aria-label="Events">
          <FilterBar
            index={index}
            version={progress.version}
            text={address.filter}
            filtered={filtered}
            matched={rows.matched}
            total={index.count}
            onText={(filter) => set({ filter })}
          />
          <EventList
            index={index}
            version={progress.version}
            rows={rows}
            gists={gists}
            selected={point.seq}
            pinned={pinHere?.seq}
            rowHeight={24}
            onSelect={select}
            onHover={setHovered}
            onFold={onFold}
            label={`Events of ${branch}`}
          />
        </section>
        <Split
          name="facts"
          label="Width of the facts"
          initial={globalThis.innerWidth >= 1_600 ? 360 : 248}
          min={200}
          max={480}
          side="end"
        >
          <Panels
            address={address}
            point={point}
            pin={pinHere}
            index={index}
            head={progress.head}
            onPanel={(panel) => set({ panel })}
            onGo={select}
            onChange={fork}
            onForkAt={
              fork === undefined
                ? undefined
                : (to) => {
                    select(to);
                    fork();
                  }
            }
            onTicks={setTicks}
          />
          <Facts
            index={index}
            version={progress.version}
            point={point}
            range={address.range}
            forks={forks}
            onGo={select}
            onBranch={(to) => bar.go(runAddress(session, to, 'head'))}
          />
        </Split>
      </Split>
      <BottomBar
        point={point}
        index={index}
        head={progress.head}
        pin={pin}
        play={play}
        isFollowing={isFollowing}
        onSelect={select}
        onFork={fork === undefined ? undefined : () => fork()}
      />
      {draft === undefined ? null : (
        <Suspense>
          <ForkDrawer
            key={refOf(point)}
            point={point}
            head={progress.head}
            index={index}
            first={draft}
            onTaken={() => setDraft({ edit: undefined, at: draft.at })}
            onClose={() => setDraft(undefined)}
          />
        </Suspense>
      )}
    </div>
  );
}

interface Following {
  readonly isRunning: boolean;
  /** Whether something keeps the point where it is: a drawer is open at it. */
  readonly isHeld: boolean;
  readonly seq: number;
  readonly head: number;
  /** The head at which the run was opened, if it was opened there. */
  readonly headAt: number | undefined;
  readonly onHead: (head: number) => void;
}

/** Goes along with a run that is under way, for as long as its head is selected. Anyone who selects a different event stays there. */
function useFollowing({ isRunning, isHeld, seq, head, headAt, onHead }: Following): boolean {
  const before = useRef(headAt ?? head);
  useEffect(() => {
    if (head <= before.current) return;
    const wasAtHead = seq === before.current;
    before.current = head;
    if (isRunning && !isHeld && wasAtHead && head > seq) onHead(head);
  }, [head]);
  return isRunning && !isHeld && seq === head;
}

/** The event under the pointer, described in a fixed place: nothing chases the pointer. */
function HoverLine({ text }: { readonly text: string }): React.ReactNode {
  return (
    <p className="hover-line mono" aria-hidden="true">
      {text}
    </p>
  );
}
