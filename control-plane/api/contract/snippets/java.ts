import type { FrameworkSnippet } from './snippet.ts'

export const JAVA: Readonly<Record<string, FrameworkSnippet>> = {}
