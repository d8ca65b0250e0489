import { createHash, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'

/** As Google's console lets people download it. */
export interface ServiceAccountKeyFile {
  type: 'service_account'
  project_id: string
  private_key_id: string
  private_key: string
  client_email: string
  client_id: string
  auth_uri: string
  token_uri: string
  universe_domain: string
}

export interface ServiceAccount {
  email: string
  /** Rations are counted per project. */
  projectNumber: string
  keys: Map<string, KeyObject>
}

/** Accounts that belong to a project and to no person: they have keys, and see what is shared with them. */
export interface ServiceAccounts {
  /** A new key, and the account with the first one. */
  createKey(name: string, projectId: string, origin: string): ServiceAccountKeyFile
  find(email: string): ServiceAccount | undefined
  /** All its keys; answers how many there were. */
  deleteKeys(email: string): number
  delete(email: string): boolean
}

export function createServiceAccounts(): ServiceAccounts {
  const byEmail = new Map<string, ServiceAccount>()
  return {
    createKey(name, projectId, origin) {
      const email = `${name}@${projectId}.iam.gserviceaccount.com`
      const account = byEmail.get(email) ?? { email, projectNumber: numberOf(projectId, 12), keys: new Map() }
      byEmail.set(email, account)
      const keyId = randomBytes(20).toString('hex')
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      account.keys.set(keyId, publicKey)
      return {
        type: 'service_account',
        project_id: projectId,
        private_key_id: keyId,
        private_key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
        client_email: email,
        client_id: numberOf(email, 21),
        auth_uri: `${origin}/o/oauth2/auth`,
        token_uri: `${origin}/token`,
        universe_domain: 'googleapis.com',
      }
    },
    find: (email) => byEmail.get(email),
    deleteKeys(email) {
      const keys = byEmail.get(email)?.keys
      const count = keys?.size ?? 0
      keys?.clear()
      return count
    },
    delete: (email) => byEmail.delete(email),
  }
}

function numberOf(text: string, digits: number): string {
  const number = BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 20)}`)
  return `1${String(number).padStart(digits, '0')}`.slice(0, digits)
}
