import type { RedisConnection } from './redis.ts'

/** A connection that is made when somebody first needs it: a command that has no use for Redis does not wait for it. */
export interface LazyRedis extends Omit<RedisConnection, 'settled'> {
  /** Connects, if nobody has yet, and resolves when it is there, or after a moment all the same. */
  settled(): Promise<void>
}

type Script = ReturnType<RedisConnection['script']>

export function createLazyRedis(connect: () => Promise<RedisConnection>): LazyRedis {
  let connecting: Promise<RedisConnection> | null = null
  let connection: RedisConnection | null = null
  let isClosed = false

  return {
    script(source) {
      let known: Script | null = null
      const first: Script = async (keys, args) => {
        const redis = await connectOnce()
        known ??= redis.script(source)
        return known(keys, args)
      }
      return (keys, args) => (known ?? first)(keys, args)
    },
    async ping() {
      await (await connectOnce()).ping()
    },
    life: () => connection?.life() ?? null,
    async settled() {
      await (await connectOnce()).settled
    },
    async close() {
      isClosed = true
      await (await connecting)?.close()
    },
  }

  async function connectOnce(): Promise<RedisConnection> {
    // Who comes late must not open what nobody would close.
    if (isClosed && !connecting) throw new Error('Redis is not connected any more')
    connecting ??= connect()
    connection = await connecting
    return connection
  }
}
