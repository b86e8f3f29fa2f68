/** What a client's SETTINGS ask for (RFC 9113 section 6.5); a number is the error that it is. */
import { ERROR, FRAME_BYTES_MAX, SETTING, WINDOW_BYTES_MAX } from './frames.ts'

interface ClientSettings {
  /** In one frame it may be set twice: its client has forgotten then what the smaller one has no room for. */
  headerTableSizeMin?: number
  headerTableSize?: number
  initialWindowSize?: number
}

const ENTRY_BYTES = 6
/** There are seven, and some that mean nothing. */
const ENTRIES_MAX = 32

export function clientSettings(bytes: Buffer, from: number, to: number): ClientSettings | number {
  if ((to - from) % ENTRY_BYTES !== 0) return ERROR.frameSize
  if (to - from > ENTRIES_MAX * ENTRY_BYTES) return ERROR.enhanceYourCalm
  const asked: ClientSettings = {}
  for (let at = from; at < to; at += ENTRY_BYTES) {
    const value = bytes.readUInt32BE(at + 2)
    switch (bytes.readUInt16BE(at)) {
      case SETTING.headerTableSize:
        asked.headerTableSizeMin = Math.min(value, asked.headerTableSizeMin ?? value)
        asked.headerTableSize = value
        break
      case SETTING.enablePush:
      case SETTING.enableConnect:
      case SETTING.noPriorities:
        if (value > 1) return ERROR.protocol
        break
      case SETTING.initialWindowSize:
        if (value > WINDOW_BYTES_MAX) return ERROR.flowControl
        asked.initialWindowSize = value
        break
      case SETTING.maxFrameSize:
        if (value < FRAME_BYTES_MAX || value > 0xffffff) return ERROR.protocol
        break
    }
  }
  return asked
}
