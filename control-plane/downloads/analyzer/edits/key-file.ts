/** `service_public.pem` where the program looks for it: in the folder that it is started in. */
import { under } from '../detection/folders.ts'
import { PEM_FILENAME } from '../../../../shared/integration/contract.ts'
import { NO_PARTS, shown, type Parts } from '../plan.ts'
import type { Project } from '../project/project.ts'
import type { Wishes } from './wishes.ts'

const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g

/** `folder`: where the program is started. */
export async function keyPart(
  project: Project,
  folder: string,
  { mode, publicKeyPem, baseUrl }: Wishes,
): Promise<Parts> {
  if (mode === 'sdk') return NO_PARTS // the keys come with the rules
  const path = under(folder, PEM_FILENAME)
  const before = await project.read(path)
  if (publicKeyPem === null) return before === null ? withoutKey(path, baseUrl) : NO_PARTS
  if (before !== null && areSameKeys(before, publicKeyPem)) return NO_PARTS
  if (before === null && project.has(path)) {
    const text = 'This file cannot be read. It should contain the public keys of the service.'
    return shown(path, null, text, publicKeyPem)
  }
  if (before !== null && before.replaceAll(PEM, '').trim() !== '') {
    const text =
      'This file contains something other than public keys. Add the public keys of the service to it.'
    return shown(path, 1, text, publicKeyPem)
  }
  const why = 'The public keys for verifying signatures of the service.'
  const edits = [{ path, before, after: publicKeyPem.trimEnd() + '\n', why }]
  return { ...NO_PARTS, edits, notes: await ignoredNotes(project, folder) }
}

function withoutKey(path: string, baseUrl: string): Parts {
  const text = `Save the public keys of the service here. Without the file they are fetched from ${baseUrl} when the application starts.`
  const code = `curl -fsS -H 'Accept: application/x-pem-file' "$SERVICE_BASE_URL/tenants/$SERVICE_TENANT_ID/public-key" -o ${PEM_FILENAME}`
  return shown(path, null, text, code)
}

function areSameKeys(one: string, other: string): boolean {
  const keys = (text: string) =>
    (text.match(PEM) ?? [])
      .map((key) => key.replaceAll(/\s/g, ''))
      .sort()
      .join()
  return keys(one) === keys(other)
}

/** What is left out of version control never arrives where the application runs. */
async function ignoredNotes(project: Project, folder: string): Promise<string[]> {
  const notes: string[] = []
  for (const path of new Set([
    '.gitignore',
    under(folder, '.gitignore'),
    '.dockerignore',
    under(folder, '.dockerignore'),
  ])) {
    const lines = (await project.read(path))?.split(/\r?\n/).map((line) => line.trim()) ?? []
    const isIgnored = lines.some((line) => /^(?:\*\*\/)?\*\.pem$/.test(line))
    if (isIgnored && !lines.includes(`!${PEM_FILENAME}`))
      notes.push(
        `${path} ignores *.pem. The public key is not a secret: add the line !${PEM_FILENAME}`,
      )
  }
  return notes
}
