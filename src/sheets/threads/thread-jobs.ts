/** A function of a module by name, so that a thread can load it. */
export interface ThreadJob<Input, Reply> {
  /** An address that `import` takes. */
  module: string
  name: string
  /** Never there: it tells the compiler what kind of function is meant. */
  of?: JobFunction<Input, Reply>
}

/** `sooner` sends at most one part of the answer that is there before the rest. */
export type JobFunction<Input, Reply> = (
  input: Input,
  sooner: (part: Handed<Reply>) => void,
) => Handed<Reply> | Promise<Handed<Reply>>

export interface Handed<Reply> {
  reply: Reply
  /** Not copied: it is gone from here. */
  handOver: readonly ArrayBufferLike[]
}

export async function loadJob<Input, Reply>({
  module,
  name,
}: ThreadJob<Input, Reply>): Promise<JobFunction<Input, Reply>> {
  const loaded = (await import(module)) as Record<string, JobFunction<Input, Reply> | undefined>
  const job = loaded[name]
  if (!job) throw new Error(`No job ${name} in ${module}`)
  return job
}

/** What a thread is asked. */
export interface AskedJob {
  jobId: number
  module: string
  name: string
  input: unknown
}

/** What a thread sends back: that it has begun, at most one part of the answer that is there sooner, then the answer. */
export type ThreadMessage<Reply> = { jobId: number; isBegun: true } | ThreadAnswer<Reply>

export interface ThreadAnswer<Reply> {
  jobId: number
  reply: Reply | FailedJob
  hasMore: boolean
}

/** An error does not survive the way between threads; what it says does. */
export type FailedJob = { failure: string; cause: string } | { malfunction: string; stack: string }

/** Small buffers share one pool in Node, and handing that over would take their neighbours along. */
export function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return isWhole && bytes.buffer instanceof ArrayBuffer
    ? (bytes as Uint8Array<ArrayBuffer>)
    : Uint8Array.from(bytes)
}
