/** Any key is one until one is configured; then only those configured are. */
export interface ApiKeys {
  configure(key: string): void
  knows(key: string): boolean
}

export function createApiKeys(): ApiKeys {
  const configured = new Set<string>()
  return {
    configure: (key) => void configured.add(key),
    knows: (key) => configured.size === 0 || configured.has(key),
  }
}
