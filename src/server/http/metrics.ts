import { monitorEventLoopDelay } from 'node:perf_hooks';

type Labels = Readonly<Record<string, string>>;

/** The kinds of figures that a server counts, with what they mean. */
const figures = {
  reprise_requests_total: { kind: 'counter', help: 'Calls that ended, by call and code.' },
  reprise_request_seconds: { kind: 'summary', help: 'Time from the headers of a call to its end.' },
  reprise_streams: { kind: 'gauge', help: 'Calls under way.' },
  reprise_bytes_in_flight: { kind: 'gauge', help: 'Bytes of requests under way.' },
  reprise_bytes_queued: { kind: 'gauge', help: 'Bytes of answers that their clients have not taken yet.' },
  reprise_appends_total: { kind: 'counter', help: 'Appends that were judged, by outcome.' },
  reprise_store_seconds: { kind: 'summary', help: 'Time that the store took, by method.' },
  reprise_denials_total: { kind: 'counter', help: 'Requests that were refused for who sent them, by code.' },
  reprise_spans_total: { kind: 'counter', help: 'Spans of OpenTelemetry that came, by outcome.' },
  reprise_event_loop_lag_seconds: { kind: 'gauge', help: 'The delay of the event loop: its 99th percentile.' },
  reprise_build_info: { kind: 'gauge', help: 'Always 1; the release is a label.' },
} as const;

/** The name of a figure. */
export type FigureName = keyof typeof figures;

/** Different label sets of one figure; further ones are not counted apart. */
const seriesMax = 1_000;

/** Counts what a server does, and writes it as Prometheus reads it. */
export class Metrics {
  readonly #series = new Map<FigureName, Map<string, { sum: number; count: number }>>();
  readonly #lag = monitorEventLoopDelay({ resolution: 20 });

  readonly #bytesQueued: () => number;

  /** The function returns the bytes of answers that wait for their clients. */
  constructor(release: string, bytesQueued: () => number) {
    this.#bytesQueued = bytesQueued;
    this.set('reprise_build_info', 1, { release });
    this.set('reprise_streams', 0);
    this.set('reprise_bytes_in_flight', 0);
    this.#lag.enable();
  }

  /** Adds to a counter or a gauge. */
  add(name: FigureName, amount: number, labels: Labels = {}): void {
    const one = this.#one(name, labels);
    one.sum += amount;
    one.count += 1;
  }

  /** Sets a gauge. */
  set(name: FigureName, value: number, labels: Labels = {}): void {
    this.#one(name, labels).sum = value;
  }

  /** Returns everything in the text format of Prometheus. */
  text(): string {
    this.set('reprise_bytes_queued', this.#bytesQueued());
    this.set('reprise_event_loop_lag_seconds', this.#lag.percentile(99) / 1e9);
    this.#lag.reset();
    return Object.entries(figures)
      .flatMap(([name, { kind, help }]) => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${kind}`,
        ...this.#lines(name as FigureName, kind),
      ])
      .map((line) => `${line}\n`)
      .join('');
  }

  /** Stops measuring. */
  close(): void {
    this.#lag.disable();
  }

  #lines(name: FigureName, kind: string): string[] {
    return [...(this.#series.get(name) ?? [])].flatMap(([labels, { sum, count }]) =>
      kind === 'summary'
        ? [`${name}_sum${labels} ${sum}`, `${name}_count${labels} ${count}`]
        : [`${name}${labels} ${sum}`],
    );
  }

  #one(name: FigureName, labels: Labels): { sum: number; count: number } {
    const series = this.#series.get(name) ?? new Map<string, { sum: number; count: number }>();
    this.#series.set(name, series);
    const key = series.size < seriesMax ? labelText(labels) : '';
    const one = series.get(key) ?? { sum: 0, count: 0 };
    series.set(key, one);
    return one;
  }
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, '_')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
