import type { Fetched, FetchWish } from '../provider.ts'
import { buildListed, buildRows, emptyCellOf, longestListOf } from '../rows/build-snapshot.ts'
import type { Grid } from '../rows/grid.ts'
import type { ListedRows } from '../rows/listed-rows.ts'
import type { EmptyCell } from '../rows/row-json.ts'
import { indexBuffers, type MadeLater, rowBuffers, type Snapshot } from '../rows/snapshot.ts'
import type { Handed } from '../threads/thread-jobs.ts'
import { collectGarbage } from './collect-garbage.ts'

export type ToDecode = Pick<Fetched, 'bytes' | 'decoder'> & Pick<FetchWish, 'values'>

/** Both at once, or the rows and then their indexes. */
export interface DecodeReply {
  snapshot?: Snapshot
  later?: MadeLater
}

/** Fewer are indexed sooner than a second message would be there. */
const fewCells = 20_000

/** A thread that has nothing to do collects nothing: the cells of a large file would stay until the next one. */
const collectedFromBytes = 4 * 1024 * 1024

type DecodeFunction = (bytes: Uint8Array, options: unknown) => Grid | Promise<Grid>
type ListFunction = (bytes: Uint8Array, options: unknown, emptyCell: EmptyCell) => ListedRows | null

/** The far side of `decoding.ts`: bytes in, snapshot out. */
export async function decodeBytes(
  { bytes, decoder, values }: ToDecode,
  sooner: (part: Handed<DecodeReply>) => void,
): Promise<Handed<DecodeReply>> {
  const decode = await load<DecodeFunction>(decoder)
  const list = decoder.lister && (await load<ListFunction>(decoder.lister))
  const listed = list?.(bytes, decoder.options, emptyCellOf(values))
  const takeApart = () => decode(bytes, decoder.options)
  const { snapshot, cells, index } = listed
    ? buildListed(listed, takeApart, values, longestListOf(bytes.byteLength))
    : buildFrom(await takeApart())
  const ofRows = rowBuffers(snapshot)
  if (cells <= fewCells) {
    const later = await index()
    return { reply: { snapshot, later }, handOver: [...ofRows, ...indexBuffers(later.indexes)] }
  }
  const heldBytes = bytes.byteLength + snapshot.sizeInBytes
  sooner({ reply: { snapshot }, handOver: ofRows })
  const later = await index()
  // After the answer, which all of it was made for.
  if (heldBytes >= collectedFromBytes) setImmediate(collectGarbage)
  return { reply: { later }, handOver: indexBuffers(later.indexes) }

  function buildFrom(grid: Grid) {
    return buildRows(grid, values, longestListOf(bytes.byteLength, grid.readFrom))
  }
}

async function load<Wanted>({ module, name }: { module: string; name: string }): Promise<Wanted> {
  const loaded = (await import(module)) as Record<string, Wanted | undefined>
  const found = loaded[name]
  if (!found) throw new Error(`No decoder ${name}`)
  return found
}
