/** Makes pictures of screens small: a PNG with a palette takes about half of one with full colors. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Enough for the edges of letters in every color of the studio; a file is a sixth smaller than with 256. */
const paletteMax = 64;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** One color a pixel, as `0xRRGGBB`. */
  readonly colors: Uint32Array;
}

/** Returns a PNG with the same picture in at most 64 colors: the most frequent ones, and for the rest the nearest of them. */
export function palettePng(png: Buffer): Buffer {
  const { width, height, colors } = readPng(png);
  const counts = new Map<number, number>();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = choosePalette(counts);
  const placeOf = new Map<number, number>();
  for (const color of counts.keys()) placeOf.set(color, nearest(palette, color));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = placeOf.get(colors[y * width + x] ?? 0) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** How many of the most frequent colors are taken as they are; the others have to be far from those before. */
const surelyTaken = 24;

/** Chooses colors: the most frequent first, and then such that differ from those that are there. */
function choosePalette(counts: ReadonlyMap<number, number>): readonly number[] {
  const sorted = [...counts].sort(([, a], [, b]) => b - a).map(([color]) => color);
  if (sorted.length <= paletteMax) return sorted;
  const palette = sorted.slice(0, surelyTaken);
  for (const least of [1_200, 400, 150, 60, 0])
    for (const color of sorted) {
      if (palette.length === paletteMax) return palette;
      if (distance(palette[nearest(palette, color)] ?? 0, color) > least) palette.push(color);
    }
  return palette;
}

function nearest(palette: readonly number[], color: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (let place = 0; place < palette.length && least > 0; place++) {
    const away = distance(palette[place] ?? 0, color);
    if (away < least) [best, least] = [place, away];
  }
  return best;
}

function distance(a: number, b: number): number {
  const red = (a >> 16) - (b >> 16);
  const green = ((a >> 8) & 255) - ((b >> 8) & 255);
  const blue = (a & 255) - (b & 255);
  return 3 * red * red + 6 * green * green + blue * blue;
}

/** Reads a PNG as browsers write it: eight bits a color, with or without transparency, not interlaced. */
function readPng(png: Buffer): Pixels {
  const packed: Buffer[] = [];
  let [width, height, channels] = [0, 0, 3];
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR')
      [width, height, channels] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9] === 6 ? 4 : 3];
    if (type === 'IDAT') packed.push(data);
    at += 12 + length;
  }
  const bytes = unfilter(inflateSync(Buffer.concat(packed)), width * channels, height, channels);
  const colors = new Uint32Array(width * height);
  for (let pixel = 0; pixel < colors.length; pixel++) {
    const at = pixel * channels;
    colors[pixel] = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  }
  return { width, height, colors };
}

/** Undoes the filters of the rows. */
function unfilter(rows: Buffer, rowBytes: number, height: number, channels: number): Uint8Array {
  const bytes = new Uint8Array(rowBytes * height);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (rowBytes + 1)] ?? 0;
    for (let x = 0; x < rowBytes; x++) {
      const at = y * rowBytes + x;
      const left = x < channels ? 0 : (bytes[at - channels] ?? 0);
      const up = y === 0 ? 0 : (bytes[at - rowBytes] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (bytes[at - rowBytes - channels] ?? 0);
      bytes[at] = (rows[y * (rowBytes + 1) + 1 + x] ?? 0) + foretold(filter, left, up, corner);
    }
  }
  return bytes;
}

function foretold(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [byLeft, byUp, byCorner] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs) as [
    number,
    number,
    number,
  ];
  return byLeft <= byUp && byLeft <= byCorner ? left : byUp <= byCorner ? up : corner;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}
