/** What the journal needs of a machine; a test breaks it at every step. */
import * as promises from 'node:fs/promises'
import { hostname } from 'node:os'
import { createGit, type Git } from './git.ts'
import { sealBy, sealSecretOf, type Seal } from './seal.ts'

export type FileSystem = typeof promises

export interface JournalWorld {
  readonly files: FileSystem
  readonly git: Git
  readonly seal: Seal
  readonly platform: NodeJS.Platform
  /** Who holds a lock: a process of a machine. */
  readonly pid: number
  readonly host: string
  isRunning(pid: number): boolean
  nowMs(): number
}

export function journalWorld(
  environment: Readonly<Record<string, string | undefined>>,
  homeFolder: string | null = null,
): JournalWorld {
  return {
    files: promises,
    git: createGit(environment),
    seal: sealBy(sealSecretOf(environment, homeFolder)),
    platform: process.platform,
    pid: process.pid,
    host: hostname(),
    isRunning,
    nowMs: Date.now,
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM' // somebody else's
  }
}

export function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | null)?.code ?? '')
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EIO: 'the disk failed to read or write it',
  ENAMETOOLONG: 'the name is too long for this file system',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EBUSY: 'another program is using it',
  EXDEV: 'it is on another file system',
}

/** Why an operation failed, to be read behind a colon. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  return REASONS[code] ?? (code === '' ? String((error as Error).message) : code)
}

/** As people on this machine write it; in a journal it is always `/`. */
export function shownPath(path: string, platform: NodeJS.Platform): string {
  return visible(platform === 'win32' ? path.replaceAll('/', '\\') : path)
}

/** A name on somebody's disk may hold what moves a cursor or turns a line around. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu, '\ufffd')
}
