/** One home of spreadsheets, as everything above providers knows it: its words and its abilities. */
export interface ProviderKind {
  /** As the store keeps it, and as paths, commands and options name it. */
  id: string
  /** In sentences and before the name of a spreadsheet: "Google". */
  name: string
  /** As one of several choices: "Google Sheets". */
  title: string
  /**
   * How owners let Rowport in before anything there can be read: on a page of the provider, or with a key that they paste.
   * Empty: nobody has to.
   */
  connectsBy: readonly ConnectionWay[]
  /** How commands call the key that lets Rowport in; absent where there is none, or none that operators add. */
  keyCommand?: string
  /** Whether our promises take something for granted there that can be tried. */
  canBeProven?: true
  /** Whether owners can choose from a list; else they paste where their spreadsheet is. */
  canBeListed: boolean
  hasTabs: boolean
  /** What the owner is told whose credential is no good any more; null where there are no credentials. */
  whenAccessEnded: string | null
  /** Absent where spreadsheets always tell what their texts are in. */
  encodings?: EncodingChoice
  /** Which spreadsheet a location means, told without asking anybody: titles are those of the day it was connected. */
  describe(location: string): PlaceDescription
}

export type ConnectionWay = 'consent' | 'key'

/** What can be said of the texts of a spreadsheet that does not tell it itself. */
export interface EncodingChoice {
  names: readonly string[]
  /** By any name that people have for it; null = one that is told by the bytes, undefined = one that cannot be chosen. */
  named(label: string): string | null | undefined
  /** What a location says; null = it is told by the bytes, undefined = there is nothing to choose. */
  of(location: string): string | null | undefined
  /** This place, in this encoding. */
  at(location: string, name: string | null): string
}

export interface PlaceDescription {
  /** For people who look at a list. */
  words: string
  tab: string | null
  /** Where its owner can open it. */
  url: string | null
  /** On this machine, for whoever runs it. */
  path: string | null
}

/** The kinds that this server knows. */
export interface ProviderKinds {
  all: readonly ProviderKind[]
  /** Throws for an id that no provider has: only a sheet of another build can have one. */
  of(id: string): ProviderKind
}

export function createProviderKinds(all: readonly ProviderKind[]): ProviderKinds {
  const byId = new Map(all.map((kind) => [kind.id, kind]))
  return {
    all,
    of(id) {
      const kind = byId.get(id)
      if (!kind) throw new Error(`There is no provider "${id}"`)
      return kind
    },
  }
}
