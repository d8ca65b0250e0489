import { Redis } from 'ioredis'
import type { Observe } from '../../reporting/observe.ts'

/** One connection to Redis, or to what speaks like it. Whatever is asked while it is away fails at once. */
export interface RedisConnection {
  /** A script that runs as one step. Its answer is what Redis makes of it: numbers, bytes, lists of these. */
  script(
    source: string,
  ): (keys: readonly string[], args: readonly (string | number | Buffer)[]) => Promise<unknown>
  ping(): Promise<void>
  /** Which life of the server this connection leads to: after a restart it is another one. Null while there is none. */
  life(): string | null
  /** Resolves when it is there, or after a moment all the same. */
  settled: Promise<void>
  close(): Promise<void>
}

const connectWithinMs = 1_000
/** Someone waits for an answer; what takes longer is as good as none. */
const mostAnswerMs = 1_000
const unknownLife = 'unknown'
const firstReconnectMs = 50
const longestReconnectMs = 1_000

export function connectRedis(
  url: string,
  observe: Observe,
  answerWithinMs: number = mostAnswerMs,
): RedisConnection {
  const client = new Redis(url, {
    connectTimeout: connectWithinMs,
    commandTimeout: answerWithinMs,
    // Nothing waits for Redis to come back: the callers know what to do without it.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(firstReconnectMs * attempt, longestReconnectMs),
    connectionName: 'rowport',
  })
  let isThere = false
  let life: string | null = null
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>()
  const settling = setTimeout(settle, connectWithinMs)
  let scripts = 0
  client.on('ready', () => {
    isThere = true
    observe({ event: 'redis_connected' })
    void askForLife().then(() => {
      clearTimeout(settling)
      settle()
    })
  })
  client.on('close', () => {
    life = null
    if (isThere) observe({ event: 'redis_lost' })
    isThere = false
  })
  // Each command tells its own failure; unheard, this one would end the process.
  client.on('error', () => {})

  return {
    script(source) {
      // Sent by its hash; where Redis does not know that any more, the client sends the text again by itself.
      const name = `rowportScript${++scripts}Buffer`
      client.defineCommand(name.replace(/Buffer$/, ''), { lua: source })
      const run = (client as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[name]
      if (!run) throw new Error('ioredis did not define the script')
      return (keys, args) => run.call(client, keys.length, ...keys, ...args)
    },
    settled,
    life: () => life,
    async ping() {
      await client.ping()
    },
    async close() {
      isThere = false
      clearTimeout(settling)
      client.disconnect()
    },
  }

  async function askForLife(): Promise<void> {
    const { stream } = client
    // Some who rent out servers do not let anybody ask; then a restart can only be told from a lost connection.
    const info = await client.info('server').catch(() => '')
    if (isThere && client.stream === stream) life = /^run_id:(\w+)/m.exec(info)?.[1] ?? unknownLife
  }
}
