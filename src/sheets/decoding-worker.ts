import { MessageChannel, type MessagePort, parentPort } from 'node:worker_threads'
import type { Grid } from './grid.ts'
import type { Fetched, FetchWish } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { ColumnIndexes } from './query/column-index.ts'
import { buildRows, indexBuffers, rowBuffers, type Snapshot } from './snapshot.ts'

export type ToDecode = Fetched & Pick<FetchWish, 'values'>

/** The far side of `decoding.ts`: bytes in, snapshot out, one at a time. */
export type DecodeReply =
  | { snapshot: Snapshot; indexes: ColumnIndexes | MessagePort }
  | { failure: string; cause: string }
  | { malfunction: string; stack: string }

/** So few are indexed sooner than a second message would be there. */
const fewCells = 20_000

type DecodeFunction = (bytes: Uint8Array, options: unknown) => Grid | Promise<Grid>

parentPort?.on('message', async ({ bytes, decoder, values }: ToDecode) => {
  try {
    const module = (await import(decoder.module)) as Record<string, DecodeFunction | undefined>
    const decode = module[decoder.name]
    if (!decode) throw new Error(`No decoder ${decoder.name}`)
    const { snapshot, cells, index } = buildRows(await decode(bytes, decoder.options), values)
    if (cells > fewCells) replyTwice(snapshot, index)
    else {
      const indexes = index()
      reply({ snapshot, indexes }, [...rowBuffers(snapshot), ...indexBuffers(indexes)])
    }
  } catch (error) {
    if (error instanceof ProviderFailure) reply({ failure: error.message, cause: String(error.cause ?? '') })
    else reply({ malfunction: String(error), stack: (error instanceof Error && error.stack) || '' })
  }
})

/** The rows now, and the indexes by a port of their own; whatever ends this thread closes that as well. */
function replyTwice(snapshot: Snapshot, index: () => ColumnIndexes): void {
  const { port1: near, port2: far } = new MessageChannel()
  reply({ snapshot, indexes: far }, [...rowBuffers(snapshot), far])
  try {
    const indexes = index()
    near.postMessage(indexes, indexBuffers(indexes) as ArrayBuffer[])
  } finally {
    near.close()
  }
}

function reply(message: DecodeReply, handOver: readonly (ArrayBufferLike | MessagePort)[] = []): void {
  parentPort?.postMessage(message, handOver as (ArrayBuffer | MessagePort)[])
}
