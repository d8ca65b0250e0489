import { useEffect } from 'react'
import { useTitle } from '../../shell/use-title.ts'
import { Entrance } from './entrance.tsx'

/** The end of a tab that was opened only to sign in again. */
export function ConfirmedPage() {
  useTitle('Confirmed')
  // Browsers let a page close only the tabs that a script opened; elsewhere the sentence stands.
  useEffect(() => window.close(), [])
  return (
    <Entrance title="You’re confirmed">
      <p className="text-sm text-soft">You can close this tab.</p>
    </Entrance>
  )
}
