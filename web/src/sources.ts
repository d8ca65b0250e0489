import type { SourceView, SwitchedOffView } from '../../src/dashboard/contract.ts'
import { useSession } from './session.ts'

/** A source that owners must connect before they can choose anything there. */
export type ConnectableSource = SourceView & { connection: NonNullable<SourceView['connection']> }

export interface Sources {
  offered: SourceView[]
  /** All that can be connected, also those that this server does not offer. */
  connectable: ConnectableSource[]
  /** Their names, joined for a sentence. */
  connectableNames(joint: 'and' | 'or'): string
  nameOf(provider: string): string
  switchedOffAt(provider: string): SwitchedOffView | null
}

/** Where sheets can come from, as the server tells. */
export function useSources(): Sources {
  const { sources } = useSession().server
  const connectable = sources.filter((source): source is ConnectableSource => source.connection !== null)
  return {
    offered: sources.filter(({ isOffered }) => isOffered),
    connectable,
    connectableNames: (joint) => connectable.map(({ name }) => name).join(` ${joint} `),
    switchedOffAt: (provider) =>
      sources.find((source) => source.provider === provider)?.connection?.switchedOff ?? null,
    nameOf: (provider) => sources.find((source) => source.provider === provider)?.name ?? provider,
  }
}
