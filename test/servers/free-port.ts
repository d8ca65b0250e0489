import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below the range that the system gives to outgoing connections, so that a server which is killed finds its
// port still free when it is restarted.
const lowest = 20_000
const beyondHighest = 32_000

/** A port of 127.0.0.1 that was free a moment ago: whoever takes it must be ready to try another. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, beyondHighest)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
