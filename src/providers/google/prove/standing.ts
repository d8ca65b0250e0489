import type { Change, Unfit } from '../../../sheets/change.ts'
import type { Ability, SwitchedOff } from '../../../sheets/proof.ts'
import type { Provider } from '../../../sheets/provider.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { ProofStore, StoredProof } from '../../../store/proofs/proofs.ts'
import { assumptions } from './assumptions.ts'

/** What is known of this Google: whether it keeps what our promises take for granted. All instances see the same. */
export interface Standing {
  switchedOff(): Promise<SwitchedOff[]>
}

/** What was found of a Google of our own says nothing of the real one. */
export function provenService(endpoint: string | null): string {
  return endpoint === null ? 'google' : `google at ${endpoint}`
}

export function createStanding(
  store: Pick<ProofStore, 'proofOf'>,
  { endpoint, areWritesOff = false }: { endpoint: string | null; areWritesOff?: boolean | undefined },
): Standing {
  const service = provenService(endpoint)
  return {
    switchedOff: async () => switchedOffBy(await store.proofOf(service), areWritesOff),
  }
}

const whatIsOff: Record<Ability, string> = {
  reads: 'reading from Google is switched off on this server',
  writes: 'writing to Google is switched off on this server',
  additions: 'adding rows in Google Sheets is switched off on this server',
}

const byOperator: SwitchedOff = {
  ability: 'writes',
  what: whatIsOff.writes,
  why: 'Your administrator has set GOOGLE_WRITES=off.',
  whatHelps: 'Without that setting it is on, where “rowport google prove” found nothing against it.',
}

const provenAgain =
  'The person who runs this server can try it again with “rowport google prove”; when it holds, this is switched on again.'

/** What this Google was seen not to keep, and so is not rested on. */
export function switchedOffBy(proofs: readonly StoredProof[], areWritesOff: boolean): SwitchedOff[] {
  const byProof = assumptions.flatMap(({ id, assumes, otherwise, switchesOff }) => {
    const failed = proofs.find(({ assumption, holds }) => assumption === id && !holds)
    if (!failed || switchesOff === null) return []
    const day = new Date(failed.triedAtMs).toISOString().slice(0, 10)
    const found = `It was tried on ${day}, and this does not hold there: “${assumes}” (seen: ${failed.saw}).`
    return [
      {
        ability: switchesOff,
        what: whatIsOff[switchesOff],
        why: `${found} ${otherwise}`,
        whatHelps: provenAgain,
      },
    ]
  })
  return areWritesOff ? [...byProof, byOperator] : byProof
}

type Rested = Required<Pick<Provider, 'fetch' | 'findInColumn' | 'prepare'>>

/** A provider like this one, which does nothing that rests on what does not hold. Writes under way are still settled. */
export function onStanding<Whole extends Rested>(provider: Whole, standing: Standing): Whole {
  return {
    ...provider,
    async fetch(...given) {
      await demandReads()
      return provider.fetch(...given)
    },
    async findInColumn(...given) {
      await demandReads()
      return provider.findInColumn(...given)
    },
    async prepare(place, changes, ...given) {
      return unfitFor(changes, await standing.switchedOff()) ?? provider.prepare(place, changes, ...given)
    },
  }

  async function demandReads(): Promise<void> {
    const off = (await standing.switchedOff()).find(({ ability }) => ability === 'reads')
    if (off) throw new ProviderFailure(off.what, { details: `${off.why} ${off.whatHelps}` })
  }
}

function unfitFor(changes: readonly Change[], allOff: readonly SwitchedOff[]): Unfit | null {
  const ofAll = allOff.find(({ ability }) => ability !== 'additions')
  const off = ofAll ?? allOff[0]
  const changeAt = ofAll ? 0 : changes.findIndex(({ kind }) => kind === 'add')
  if (!off || changeAt < 0) return null
  return { changeAt, reason: 'file', details: off.what, advice: `${off.why} ${off.whatHelps}` }
}
