import { Readable } from 'node:stream'
import type { TestEvent } from 'node:test/reporters'
import { spec } from 'node:test/reporters'

/** Node's own report, and in its last lines why tests were skipped: nobody scrolls up for that. */
// biome-ignore lint/style/noDefaultExport: node --test takes the reporter from there
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skipped = new Map<string, number>()
  async function* counted(): AsyncGenerator<TestEvent> {
    for await (const event of events) {
      if (event.type === 'test:pass' && event.data.skip !== undefined && event.data.skip !== false) {
        const reason = typeof event.data.skip === 'string' ? event.data.skip : 'no reason given'
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
      }
      yield event
    }
  }
  yield* Readable.from(counted()).compose(spec())
  for (const [reason, count] of skipped) yield `skipped ${count}: ${reason}\n`
}
