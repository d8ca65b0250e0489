import type { Provider } from '../../src/sheets/provider.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { done, type Rowport } from '../harness.ts'

/** A place whose every mood a test decides. */
export interface MoodyProvider extends Provider {
  /** How often it was asked for the rows of each place. */
  fetches: Map<string, number>
  /** In the order of asking. */
  order: string[]
  cells: Map<string, Cell[][]>
  /** Thrown instead of an answer. */
  failure: Error | null
  isScarce: boolean
  /** Answers wait until this is called. */
  holdUp(): () => void
}

export function createMoodyProvider(): MoodyProvider {
  let held: Promise<void> = Promise.resolve()
  const provider: MoodyProvider = {
    fetches: new Map(),
    order: [],
    cells: new Map(),
    failure: null,
    isScarce: false,
    holdUp() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    isTight: () => provider.isScarce,
    async fetch({ location }, { values }) {
      provider.fetches.set(location, (provider.fetches.get(location) ?? 0) + 1)
      provider.order.push(location)
      await held
      if (provider.failure) throw provider.failure
      const bytes = new TextEncoder().encode(JSON.stringify(provider.cells.get(location) ?? []))
      const decoder = {
        module: import.meta.resolve('./decode-cells.ts'),
        name: 'decodeCells',
        options: { values },
      }
      return { bytes, version: `${provider.order.length}`, decoder }
    },
    prepare: () => Promise.reject(new Error('Nobody writes here')),
    settle: () => Promise.reject(new Error('Nobody writes here')),
  }
  return provider
}

/** Connects `acme/<slug>` at the provider, with a location of the same name. */
export async function connectMoody(
  rowport: Rowport,
  provider: MoodyProvider,
  slug: string,
  cells: Cell[][],
  credentialId: string | null = null,
): Promise<{ id: string; path: string }> {
  provider.cells.set(slug, cells)
  const providers = rowport.workshop.providers as Map<string, Provider>
  providers.set('moody', provider)
  const sheet = done(
    await rowport.workshop.sheets.connect({
      accountSlug: 'acme',
      sheetSlug: slug,
      access: 'public-read',
      provider: 'moody',
      source: `moody:${slug}`,
      location: slug,
      credentialId,
    }),
  )
  return { id: sheet.id, path: `/api/sheets/acme/${slug}` }
}
