import type { FrameworkSnippet } from './snippet.ts'

export const CSHARP: Readonly<Record<string, FrameworkSnippet>> = {}
