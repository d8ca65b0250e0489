import { ProgressBar } from '../../ui/progress-bar.tsx'

/** How far an upload is; once all is sent, the server still looks into the file. */
export function Sending({ name, share }: { name: string; share: number }) {
  return (
    <div role="status" className="mt-4">
      <p className="mb-1 text-sm wrap-anywhere">
        {share < 1 ? `Uploading ${name}: ${Math.floor(share * 100)}%` : `Checking ${name}…`}
      </p>
      <ProgressBar label={`Upload of ${name}`} share={share} />
    </div>
  )
}
