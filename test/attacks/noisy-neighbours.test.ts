import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { skipCluster } from '../cluster/cluster.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import {
  type Allowance,
  giveSheets,
  type Holding,
  holdingInWords,
  holdingOf,
  servedAgain,
  settledHolding,
} from './aftermath.ts'
import { attacks } from './attacks.ts'
import { type Attacker, type Neighbourhood, type StoreKind, startNeighbourhood } from './neighbourhood.ts'
import { inWords, probeVictim, type VictimFigures } from './victim-probe.ts'

// What an account on the same server notices while another does its worst. In `npm test` a few attacks are tried for a moment, beside
// other tests that take the processors, so that only the gross is held there; `npm run soak -- attacks` tries all of them, on
// both stores, and holds the figures.
const isSoak = times(0, 1) === 1
const attackMs = times(1_000, 20_000)
/** Whoever has not been answered by then leaves, so that no attack takes longer than it is to. */
const leaveAfterMs = 5_000
const calmMs = times(300, 3_000)
const mostCachedP99Ms = times(3_000, 50)
const mostFirstMs = times(15_000, 1_000)
const mostResidentMb = 1_500

/** Of what the victim waited before. Of the few reads of a calm moment the slowest is the p99. */
const mostTimesCalm = 1.5
const mostLaterMs = { p50: times(100, 2), p99: times(1_000, 15) }
/**
 * Descriptors: connections to PostgreSQL (14 at most) and to Google that wait for the next call, some five of a thread that was begun
 * anew, files that were replaced and are watched for a moment. Memory: what the runtime takes for new objects under load (40 MB), a thread
 * that has grown (20 to 70 MB each, of three), compiled code, and what is not collected because it is less than a quarter of what may be
 * held (128 MB).
 */
const leftByOne: Allowance = { descriptors: 24, residentMb: 350 }
/** By all of them together: what each leaves a little of would be more in the end. */
const leftByAll: Allowance = { descriptors: 40, residentMb: 350 }

const skip = existsSync('/proc/self/status') ? false : 'resident memory is read from /proc'

const kinds: readonly StoreKind[] = isSoak ? ['embedded', 'PostgreSQL and Redis'] : ['embedded']

for (const kind of kinds) {
  describe(`beside a noisy neighbour, ${kind}`, {
    skip: skip || (kind !== 'embedded' && skipCluster),
  }, () => {
    let street: Neighbourhood
    let atFirst: Holding
    const endings: (() => Promise<void>)[] = []
    before(async () => {
      street = await startNeighbourhood({ after: (end) => void endings.push(end) }, kind)
      await giveSheets(street, street.attacker)
      // Threads are begun, and connections made, when they are needed first: that is nothing that an attack leaves.
      assert.equal(await servedAgain(street, street.attacker), null)
      atFirst = await holdingOf(street)
    })
    after(async () => {
      for (const end of endings) await end()
    })

    const tried = attacks.filter(({ isQuick }) => isSoak || isQuick)
    for (const [nth, { name, accounts, prepare, run }] of tried.entries()) {
      test(name, { timeout: patienceMs }, async () => {
        const attacked = await streetOf(nth, accounts)
        const { attackers } = attacked
        await prepare?.(attacked)
        const calm = await meanwhile(() => sleep(calmMs))
        leave(attackers)
        const holdingBefore = await holdingOf(street)
        const measure = async () => {
          let tally = new Map<string, number>()
          const during = await meanwhile(async () => {
            // Not before: the victim is looked at by a thread that has to start.
            const endMs = performance.now() + attackMs
            const leaving = setTimeout(() => leave(attackers), attackMs + leaveAfterMs)
            tally = await run(attacked, () => performance.now() >= endMs)
            clearTimeout(leaving)
            leave(attackers)
          })
          const after = await meanwhile(() => sleep(calmMs))
          const { holding, problem } = await settledHolding(street, holdingBefore, leftByOne)
          const later = slower(calm, after) === null ? after : await meanwhile(() => sleep(calmMs))
          const left = problem === null ? [] : [problem]
          for (const attacker of attackers) {
            const refused = await servedAgain(street, attacker)
            if (refused !== null) left.push(refused)
          }
          const got = [...tally].map(([what, count]) => `${count} × ${what}`).join(', ')
          process.stdout.write(
            `${kind}: ${name}\n  before: ${inWords(calm)}\n  during: ${inWords(during)}\n` +
              `  after:  ${inWords(after)}\n${later === after ? '' : `  later:  ${inWords(later)}\n`}` +
              `  the attacker got ${got}\n` +
              `  before: ${holdingInWords(holdingBefore)}\n  after:  ${holdingInWords(holding)}\n`,
          )
          for (const [when, figures] of Object.entries({ during, after })) {
            assert.deepEqual(figures.failures, {}, `${when}: ${inWords(figures)}`)
            assert.ok(
              figures.mostResidentMb < mostResidentMb,
              `resident memory, ${when}: ${inWords(figures)}`,
            )
          }
          assert.ok(!/× 500/.test(got), `a bug of ours: ${got}`)
          assert.deepEqual(left, [])
          return { during, after, later }
        }
        await holdsOfTwo(
          measure,
          ({ during, after, later }) =>
            missedIn('during', during) ?? missedIn('after', after) ?? slower(calm, later),
        )
      })
    }

    test('when all of it is over', { timeout: patienceMs }, async () => {
      const { holding, problem } = await settledHolding(street, atFirst, leftByAll)
      process.stdout.write(
        `${kind}: when all of it is over\n  before: ${holdingInWords(atFirst)}\n  after:  ${holdingInWords(holding)}\n`,
      )
      assert.equal(problem, null)
    })

    async function streetOf(nth: number, accounts = 0): Promise<Neighbourhood> {
      const attackers: Attacker[] = []
      for (let n = 0; n < accounts; n++) {
        const attacker = await street.newAttacker(`attacker-${nth}-${n}`)
        await giveSheets(street, attacker)
        attackers.push(attacker)
      }
      const [attacker] = attackers
      return attacker ? { ...street, attacker, attackers } : street
    }

    async function meanwhile(work: () => Promise<unknown>): Promise<VictimFigures> {
      const probe = await probeVictim(street)
      await work()
      return probe.stop()
    }
  })
}

function leave(attackers: readonly Attacker[]): void {
  for (const attacker of attackers) attacker.leave()
}

/** What takes long may be the machine's doing; failures and memory are not. */
function missedIn(when: string, figures: VictimFigures): string | null {
  const { cachedReads, cachedP99Ms, firstMaxMs } = figures
  if (cachedReads > 0 && cachedP99Ms <= mostCachedP99Ms && firstMaxMs <= mostFirstMs) return null
  return `${when}: ${inWords(figures)}`
}

/** What a server that has nothing to do takes longer as well is the machine's doing. */
function slower(calm: VictimFigures, later: VictimFigures): string | null {
  const mostMs = (calmMs: number, bareMs: number, laterBareMs: number, more: number) =>
    mostTimesCalm * calmMs + more + Math.max(0, laterBareMs - bareMs)
  const mostP50Ms = mostMs(calm.cachedP50Ms, calm.bareP50Ms, later.bareP50Ms, mostLaterMs.p50)
  const mostP99Ms = mostMs(calm.cachedP99Ms, calm.bareP99Ms, later.bareP99Ms, mostLaterMs.p99)
  if (later.cachedP50Ms <= mostP50Ms && later.cachedP99Ms <= mostP99Ms) return null
  return `not as before: ${inWords(calm)}; then ${inWords(later)}`
}
