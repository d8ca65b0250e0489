import { tokenIdentity } from '../../src/providers/remote/access-tokens.ts'
import { createSealing } from '../../src/secrets/sealing.ts'
import type { CredentialRecord, CredentialStore } from '../../src/store/credentials/credentials.ts'
import type { ProofStore } from '../../src/store/proofs/proofs.ts'

export const sealing = createSealing('a secret for tests only', [])

/** The store's part for one kind of credential, in memory. */
export interface MemoryCredentials
  extends Pick<CredentialStore, 'findCredential' | 'expireCredential'>,
    ProofStore {
  /** Connects, or connects again. Returns the id. */
  connect(credential: { subject: string; refreshToken: string; scopes?: string }): string
  all: Map<string, CredentialRecord>
}

export function createMemoryCredentials(): MemoryCredentials {
  const all = new Map<string, CredentialRecord>()
  return {
    all,
    connect({ subject, refreshToken, scopes = 'https://www.googleapis.com/auth/drive.file' }) {
      const id = `cr_${subject}`
      const version = (all.get(id)?.version ?? 0) + 1
      const identity = tokenIdentity({ accountId: 'ac_1', credentialId: id, version })
      all.set(id, {
        id,
        accountId: 'ac_1',
        provider: 'google',
        subject,
        label: subject,
        scopes,
        version,
        state: 'valid',
        expiredReason: null,
        createdAtMs: 0,
        connectedAtMs: 0,
        sealedToken: sealing.seal(refreshToken, identity),
        keyId: sealing.keyId,
      })
      return id
    },
    // Nobody has tried anything.
    proofOf: async () => [],
    async saveProof() {},
    findCredential: async (id) => all.get(id) ?? null,
    async expireCredential(id, version, reason) {
      const known = all.get(id)
      if (known?.version !== version || known.state !== 'valid') return false
      all.set(id, { ...known, state: 'expired', expiredReason: reason })
      return true
    },
  }
}
