/** What could not be read, each path once, and no more than a person reads. */

interface UnreadEntry {
  readonly path: string
  readonly reason: string
}

export interface Unread {
  readonly entries: readonly UnreadEntry[]
  add(path: string, reason: string): void
  failed(path: string, error: unknown): void
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  ENOENT: 'does not exist (a broken link, or a name that is not UTF-8)',
  ENOTDIR: 'no longer exists',
  ELOOP: 'is a link to itself',
  ENAMETOOLONG: 'has a path that is too long',
  EIO: 'cannot be read: its disk is damaged',
}

export function createUnread(entriesMax: number): Unread {
  const entries: UnreadEntry[] = []

  function add(path: string, reason: string) {
    const shown = printable(path)
    if (entries.length < entriesMax && !entries.some((entry) => entry.path === shown))
      entries.push({ path: shown, reason })
  }

  function failed(path: string, error: unknown) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    add(path, REASONS[code] ?? `cannot be read (${code || 'unknown reason'})`)
  }
  return { entries, add, failed }
}

/** `a\nb` for a name that a terminal would take for more than a name. */
function printable(path: string): string {
  return path.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  )
}
