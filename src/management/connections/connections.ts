import type { OwnerConnection } from './owner-connection.ts'

/** All providers that owners can connect, each by itself and together. */
export interface Connections {
  all: readonly OwnerConnection[]
  /** null for an id that is none of theirs. */
  find(provider: string): OwnerConnection | null
  /** Which of the account's credentials are over: their sheets need a reconnect. */
  endedCredentials(accountId: string): Promise<ReadonlySet<string>>
  /** Whether the providers can be told does not matter here. */
  disconnectAll(accountId: string): Promise<void>
}

export function createConnections(all: readonly OwnerConnection[]): Connections {
  return {
    all,
    find: (provider) => all.find(({ kind }) => kind.id === provider) ?? null,
    async endedCredentials(accountId) {
      const states = await Promise.all(all.map(({ status }) => status(accountId)))
      return new Set(states.flatMap((status) => (status?.state === 'ended' ? [status.credentialId] : [])))
    },
    async disconnectAll(accountId) {
      for (const connection of all) await connection.disconnect(accountId)
    },
  }
}
