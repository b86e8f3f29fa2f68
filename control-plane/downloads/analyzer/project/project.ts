/** A project as it lies there: which files, and their text. Nothing is written through it. */

/** Of one path: relative to the project's root, with `/`. */
export interface ProjectFile {
  readonly path: string
  readonly bytes: number
  /** It is a link to this file of the project. */
  readonly linkTo?: string
}

export interface Project {
  /** Absolute, without symbolic links in it. */
  readonly root: string
  /** In order of path; folders of packages, of version control and of builds are left out. */
  readonly files: readonly ProjectFile[]
  /** The walk ended at a limit: what is not in `files` may be there none the less. */
  readonly isCut: boolean
  /** What could not be read, for the person to know. */
  readonly unread: readonly { readonly path: string; readonly reason: string }[]
  has(path: string): boolean
  /** Text without its byte order mark; null: absent, too large, not UTF-8, or not readable. */
  read(path: string): Promise<string | null>
}
