import { useState } from 'react'
import type { ConnectableSource } from '../../sources.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Card } from '../../ui/states.tsx'

/** For what is open to everybody with its link: nobody has to connect anything, and nobody writes. */
export function PublicLink({
  source,
  onPicked,
}: {
  source: ConnectableSource
  onPicked(link: string): void
}) {
  const [link, setLink] = useState('')
  const text = link.trim()
  const isLink = new RegExp(source.connection.linkPattern).test(text)
  return (
    <div className="mt-6">
      <Card title="Or use a public link">
        <p className="mb-4 max-w-prose text-sm text-soft">
          A spreadsheet that anyone with the link may view is read without connecting an account. It can’t be
          written to.
        </p>
        <form
          className="max-w-md space-y-3"
          onSubmit={(event) => {
            event.preventDefault()
            if (isLink) onPicked(text)
          }}
        >
          <TextField
            label="Link of the spreadsheet"
            required
            autoComplete="off"
            value={link}
            onChange={({ target }) => setLink(target.value)}
          />
          <Button type="submit" disabled={!isLink}>
            Use this link
          </Button>
        </form>
      </Card>
    </div>
  )
}
