import { type Asked, pathToRow } from './console-request.ts'

interface Past extends Asked {
  status: number
}

const kept = 10

/** For as long as the tab is open: bodies may hold what belongs to somebody else. */
export function keepInHistory(sheetId: string, sent: Past): void {
  const same = JSON.stringify(sent)
  const others = pastOf(sheetId).filter((past) => JSON.stringify(past) !== same)
  try {
    sessionStorage.setItem(nameOf(sheetId), JSON.stringify([sent, ...others].slice(0, kept)))
  } catch {
    // There is no room, or none is given: then there is no history.
  }
}

/** Choosing one fills in the form; nothing is sent. */
export function ConsoleHistory({ sheetId, onChosen }: { sheetId: string; onChosen(asked: Asked): void }) {
  const past = pastOf(sheetId)
  if (past.length === 0) return null
  return (
    <details className="mt-4 text-caption">
      <summary className="rounded-sm text-soft">History ({past.length})</summary>
      <ul className="mt-2 space-y-1">
        {past.map(({ status, ...asked }) => (
          <li key={JSON.stringify([status, asked])}>
            <button
              type="button"
              onClick={() => onChosen(asked)}
              className="flex w-full gap-3 rounded-md px-2 py-1 text-left font-mono hover:bg-sunken"
            >
              <span className="text-soft">{status}</span>
              <span className="truncate">
                {asked.method} {pathToRow(asked.row, asked.rowBy)}
                {asked.query ? `?${asked.query.replace(/^\?/, '')}` : ''}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </details>
  )
}

function pastOf(sheetId: string): Past[] {
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(sheetId)) ?? '[]') as Past[]
  } catch {
    return []
  }
}

function nameOf(sheetId: string): string {
  return `rowport-console-${sheetId}`
}
