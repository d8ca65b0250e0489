import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { FileChoice } from '../../../../src/dashboard/contract.ts'
import { linkTo } from '../../api.ts'
import { filesQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { useTitle } from '../../shell/use-title.ts'
import { useSources } from '../../sources.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { DensitySwitch, useIsDense } from '../../ui/list/density.tsx'
import { EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { DeleteFile } from './delete-file.tsx'
import { RenameFile } from './rename-file.tsx'
import { ReplaceFile } from './replace-file.tsx'
import { sizeInWords } from './size-in-words.ts'

export function FilesPage() {
  useTitle('Files')
  const { server } = useSession()
  const { connectableNames } = useSources()
  const files = useQuery(filesQuery)
  const isDense = useIsDense(files.data?.length ?? 0)
  const [replacing, setReplacing] = useState<FileChoice | null>(null)
  const [renaming, setRenaming] = useState<FileChoice | null>(null)
  const [deleting, setDeleting] = useState<FileChoice | null>(null)
  const upload = (
    <ButtonLink look="primary" to="/connect">
      Upload a file
    </ButtonLink>
  )
  if (!server.hasFiles) {
    return (
      <>
        <PageHeader title="Files" />
        <EmptyState title="File uploads are turned off on this server">
          Connect sheets from {connectableNames('or')} instead. Uploads work where Rowport runs on one
          machine.
        </EmptyState>
      </>
    )
  }
  return (
    <>
      <PageHeader
        title="Files"
        action={
          files.data &&
          files.data.length > 0 && (
            <div className="flex gap-2">
              <DensitySwitch count={files.data.length} />
              {upload}
            </div>
          )
        }
      >
        Rowport’s copies of the files you uploaded. Replace one, and its sheets serve the new rows.
      </PageHeader>
      {files.isPending && <Skeleton lines={6} />}
      {files.error && !files.data && <ErrorState error={files.error} onRetry={() => files.refetch()} />}
      {files.data?.length === 0 && (
        <EmptyState title="No files yet" action={upload}>
          Upload a CSV file or an Excel workbook and connect it as a sheet.
        </EmptyState>
      )}
      {files.data && files.data.length > 0 && (
        <DataTable
          caption="Uploaded files"
          isDense={isDense}
          rows={files.data}
          keyOf={({ name }) => name}
          columns={[
            { title: 'File', cell: (file) => <FileName of={file} /> },
            { title: 'Sheets', cell: ({ sheets }) => <SheetLinks slugs={sheets} />, isOptional: true },
            {
              title: 'Size',
              isNumber: true,
              isOptional: true,
              cell: ({ bytes }) => sizeInWords(bytes),
            },
            {
              title: 'Changed',
              isOptional: true,
              cell: ({ modifiedAtMs }) => <Ago atMs={modifiedAtMs} />,
            },
            {
              title: 'Actions',
              isActions: true,
              cell: (file) => (
                <div className="-mr-3 flex flex-col items-end md:flex-row md:justify-end">
                  <a
                    href={linkTo('GET /files/{name}/content', { names: { name: file.name } })}
                    download
                    className="inline-flex h-9 items-center rounded-md px-3.5 text-sm font-medium text-soft transition-colors hover:bg-sunken hover:text-ink"
                  >
                    Download<span className="sr-only"> {file.name}</span>
                  </a>
                  <Button look="quiet" onClick={() => setReplacing(file)}>
                    Replace<span className="sr-only"> {file.name}</span>
                  </Button>
                  <Button look="quiet" onClick={() => setRenaming(file)}>
                    Rename<span className="sr-only"> {file.name}</span>
                  </Button>
                  <Button look="quiet" className="text-bad!" onClick={() => setDeleting(file)}>
                    Delete<span className="sr-only"> {file.name}</span>
                  </Button>
                </div>
              ),
            },
          ]}
        />
      )}
      <RenameFile file={renaming} onClose={() => setRenaming(null)} />
      <ReplaceFile file={replacing} onClose={() => setReplacing(null)} />
      <DeleteFile file={deleting} onClose={() => setDeleting(null)} />
    </>
  )
}

function FileName({ of: { name, problem, sheets, bytes, modifiedAtMs } }: { of: FileChoice }) {
  return (
    <>
      <span className="font-medium wrap-anywhere">{name}</span>
      {problem && <span className="block text-caption text-bad">{problem}</span>}
      {/* What the columns say where there is room for them. */}
      <span className="block text-caption text-soft md:hidden">
        {sizeInWords(bytes)}, changed <Ago atMs={modifiedAtMs} />.{' '}
        {sheets.length > 0 && (
          <>
            Connected: <SheetLinks slugs={sheets} />
          </>
        )}
      </span>
    </>
  )
}

function SheetLinks({ slugs }: { slugs: readonly string[] }) {
  if (slugs.length === 0) return <span className="text-soft">none</span>
  return slugs.map((slug, at) => (
    <span key={slug}>
      {at > 0 && ', '}
      <Link to="/sheets/$slug" params={{ slug }} className="text-accent underline underline-offset-2">
        {slug}
      </Link>
    </span>
  ))
}
