export interface OAuthClient {
  clientId: string
  clientSecret: string
  redirectUris: string[]
}

/** Any client may come until one is configured; then only those configured may. */
export interface Clients {
  configure(client: OAuthClient): void
  knows(clientId: string): boolean
  allowsRedirect(clientId: string, redirectUri: string): boolean
  secretFits(clientId: string, clientSecret: string): boolean
}

export function createClients(): Clients {
  const configured = new Map<string, OAuthClient>()
  const open = (): boolean => configured.size === 0
  return {
    configure: (client) => void configured.set(client.clientId, client),
    knows: (clientId) => open() || configured.has(clientId),
    allowsRedirect: (clientId, redirectUri) =>
      open() || (configured.get(clientId)?.redirectUris.includes(redirectUri) ?? false),
    secretFits: (clientId, clientSecret) => open() || configured.get(clientId)?.clientSecret === clientSecret,
  }
}

/** Google's client ids begin with the number of their project, and rations are counted per project. */
export function projectNumberOf(clientId: string): string {
  return /^\d{6,}(?=-)/.exec(clientId)?.[0] ?? '314159265358'
}
