import type { ProvenAssumption } from '../../../sheets/proof.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { TriedAssumption } from '../../../store/proofs/proofs.ts'
import { assumptions } from './assumptions.ts'
import { addScratchTab, type ScratchParts } from './scratch-tab.ts'

/** Tries everything that our promises take for granted, on a tab that is gone afterwards. */
export async function proveGoogle(
  parts: ScratchParts,
  credentialId: string,
  spreadsheetId: string,
): Promise<ProvenAssumption[]> {
  const tab = await addScratchTab(parts, credentialId, spreadsheetId)
  try {
    const proven: ProvenAssumption[] = []
    for (const { attempt, ...assumption } of assumptions) {
      const outcome = await attempt(tab).catch((error: unknown) => {
        if (!(error instanceof ProviderFailure)) throw error
        return { holds: null, saw: `it could not be tried: ${error.message}` }
      })
      proven.push({ ...assumption, ...outcome })
    }
    return proven
  } finally {
    await tab.remove()
  }
}

/** What could not be tried says nothing: what was found before stands. */
export function outcomesToKeep(proven: readonly ProvenAssumption[]): TriedAssumption[] {
  return proven.flatMap(({ id, holds, saw }) => (holds === null ? [] : [{ assumption: id, holds, saw }]))
}
