import { parentPort } from 'node:worker_threads'
import type { Grid } from './grid.ts'
import type { Fetched, FetchWish } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import { buffersOf, buildSnapshot, type Snapshot } from './snapshot.ts'

export type ToDecode = Fetched & Pick<FetchWish, 'values'>

/** The far side of `decoding.ts`: bytes in, snapshot out, one at a time. */
export type DecodeReply =
  | { snapshot: Snapshot }
  | { failure: string; cause: string }
  | { malfunction: string; stack: string }

type DecodeFunction = (bytes: Uint8Array, options: unknown) => Grid | Promise<Grid>

parentPort?.on('message', async ({ bytes, decoder, values }: ToDecode) => {
  try {
    const module = (await import(decoder.module)) as Record<string, DecodeFunction | undefined>
    const decode = module[decoder.name]
    if (!decode) throw new Error(`No decoder ${decoder.name}`)
    const snapshot = buildSnapshot(await decode(bytes, decoder.options), values)
    reply({ snapshot }, buffersOf(snapshot))
  } catch (error) {
    if (error instanceof ProviderFailure) reply({ failure: error.message, cause: String(error.cause ?? '') })
    else reply({ malfunction: String(error), stack: (error instanceof Error && error.stack) || '' })
  }
})

function reply(message: DecodeReply, handOver: readonly ArrayBufferLike[] = []): void {
  parentPort?.postMessage(message, handOver as ArrayBuffer[])
}
