import type { Fetched, FetchWish } from '../provider.ts'
import { buildRows } from '../rows/build-snapshot.ts'
import type { Grid } from '../rows/grid.ts'
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

/** The far side of `decoding.ts`: bytes in, snapshot out. */
export async function decodeBytes(
  { bytes, decoder, values }: ToDecode,
  sooner: (part: Handed<DecodeReply>) => void,
): Promise<Handed<DecodeReply>> {
  const module = (await import(decoder.module)) as Record<string, DecodeFunction | undefined>
  const decode = module[decoder.name]
  if (!decode) throw new Error(`No decoder ${decoder.name}`)
  const { snapshot, cells, index } = buildRows(await decode(bytes, decoder.options), values)
  const ofRows = rowBuffers(snapshot)
  if (cells <= fewCells) {
    const later = index()
    return { reply: { snapshot, later }, handOver: [...ofRows, ...indexBuffers(later.indexes)] }
  }
  sooner({ reply: { snapshot }, handOver: ofRows })
  const later = index()
  // After the answer, which all of it was made for.
  if (bytes.byteLength >= collectedFromBytes) setImmediate(collectGarbage)
  return { reply: { later }, handOver: indexBuffers(later.indexes) }
}
