const shownCharacters = 80

/** Names that differ in capitals or in blanks around them can mean one column. */
export function foldName(name: string): string {
  return name.trim().toLowerCase()
}

/** Long enough to recognize, short enough that a hostile name cannot fill the answer. */
export function shortenName(name: string): string {
  return name.length > shownCharacters ? `${name.slice(0, shownCharacters)}…` : name
}
