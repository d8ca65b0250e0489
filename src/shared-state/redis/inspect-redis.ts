import { Redis } from 'ioredis'

const answerWithinMs = 2_000

/** The time of the server, by its own clock; throws when it cannot be reached. */
export async function timeOfRedis(url: string): Promise<number> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: answerWithinMs,
    commandTimeout: answerWithinMs,
    retryStrategy: () => null,
    connectionName: 'rowport doctor',
  })
  // The command tells; unheard, this one would end the process.
  let failure: unknown = null
  client.on('error', (error) => {
    failure = error
  })
  try {
    await client.connect()
    const [seconds = 0, microseconds = 0] = (await client.time()).map(Number)
    return seconds * 1_000 + microseconds / 1_000
  } catch (error) {
    throw failure ?? error
  } finally {
    client.disconnect()
  }
}
