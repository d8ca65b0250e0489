import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { skipCluster } from '../cluster/cluster.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import { attacks } from './attacks.ts'
import { type Neighbourhood, type StoreKind, startNeighbourhood } from './neighbourhood.ts'
import { inWords, probeVictim, type VictimFigures } from './victim-probe.ts'

// What an account on the same server notices while another does its worst. In `npm test` a few attacks are tried for a moment, beside
// other tests that take the processors, so that only the gross is held there; `npm run soak -- attacks` tries all of them, on
// both stores, and holds the figures.
const isSoak = times(0, 1) === 1
const attackMs = times(1_000, 20_000)
const calmMs = times(300, 3_000)
const mostCachedP99Ms = times(3_000, 50)
const mostFirstMs = times(15_000, 1_000)
const mostResidentMb = 1_500

const skip = existsSync('/proc/self/status') ? false : 'resident memory is read from /proc'

const kinds: readonly StoreKind[] = isSoak ? ['embedded', 'PostgreSQL and Redis'] : ['embedded']

for (const kind of kinds) {
  describe(`beside a noisy neighbour, ${kind}`, {
    skip: skip || (kind !== 'embedded' && skipCluster),
  }, () => {
    let street: Neighbourhood
    const endings: (() => Promise<void>)[] = []
    before(async () => {
      street = await startNeighbourhood({ after: (end) => void endings.push(end) }, kind)
    })
    after(async () => {
      for (const end of endings) await end()
    })

    const tried = attacks.filter(
      ({ on, isQuick }) => (on === undefined || on === kind) && (isSoak || isQuick),
    )
    for (const { name, prepare, run } of tried) {
      test(name, { timeout: patienceMs }, async () => {
        await prepare?.(street)
        const calm = await meanwhile(() => sleep(calmMs))
        const measure = async () => {
          let tally = new Map<string, number>()
          const during = await meanwhile(async () => {
            // Not before: the victim is looked at by a thread that has to start.
            const endMs = performance.now() + attackMs
            tally = await run(street, () => performance.now() >= endMs)
          })
          const after = await meanwhile(() => sleep(calmMs))
          const got = [...tally].map(([what, count]) => `${count} × ${what}`).join(', ')
          process.stdout.write(
            `${kind}: ${name}\n  before: ${inWords(calm)}\n  during: ${inWords(during)}\n` +
              `  after:  ${inWords(after)}\n  the attacker got ${got}\n`,
          )
          for (const [when, figures] of Object.entries({ during, after })) {
            assert.deepEqual(figures.failures, {}, `${when}: ${inWords(figures)}`)
            assert.ok(
              figures.mostResidentMb < mostResidentMb,
              `resident memory, ${when}: ${inWords(figures)}`,
            )
          }
          assert.ok(!/× 500/.test(got), `a bug of ours: ${got}`)
          return { during, after }
        }
        await holdsOfTwo(
          measure,
          ({ during, after }) => missedIn('during', during) ?? missedIn('after', after),
        )
      })
    }

    async function meanwhile(work: () => Promise<unknown>): Promise<VictimFigures> {
      const probe = await probeVictim(street)
      await work()
      return probe.stop()
    }
  })
}

/** What takes long may be the machine's doing; failures and memory are not. */
function missedIn(when: string, figures: VictimFigures): string | null {
  const { cachedReads, cachedP99Ms, firstMaxMs } = figures
  if (cachedReads > 0 && cachedP99Ms <= mostCachedP99Ms && firstMaxMs <= mostFirstMs) return null
  return `${when}: ${inWords(figures)}`
}
