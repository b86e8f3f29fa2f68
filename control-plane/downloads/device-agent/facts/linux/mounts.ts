/** `/proc/<pid>/mountinfo`: what is mounted where, and from which device. */

export interface Mount {
  readonly at: string
  /** `254:0`; `0:23` where no block device is behind it, or more than one. */
  readonly device: string
  readonly type: string
  /** `/dev/mapper/root`, `rpool/ROOT/debian`, `overlay`. */
  readonly source: string
}

export function parseMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const words = line.split(' ')
    // optional fields end with a dash
    const dash = words.indexOf('-', 6)
    const [, , device, , at] = words
    const [type, source] = dash === -1 ? [] : words.slice(dash + 1)
    if (device === undefined || at === undefined || type === undefined || source === undefined)
      return []
    return [{ at: plain(at), device, type, source: plain(source) }]
  })
}

/** Blanks and backslashes come as octal numbers. */
function plain(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(parseInt(octal, 8)),
  )
}

/** What is mounted at a path now: the last one hides those before it. */
export function mountAt(mounts: readonly Mount[], at: string): Mount | undefined {
  return mounts.findLast((mount) => mount.at === at)
}

/** The mount that a file lies in. */
export function mountOf(mounts: readonly Mount[], file: string): Mount | undefined {
  const around = mounts.filter(({ at }) => at === '/' || file === at || file.startsWith(`${at}/`))
  const longest = around.reduce((most, { at }) => Math.max(most, at.length), 0)
  return around.findLast(({ at }) => at.length === longest)
}
