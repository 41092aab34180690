import pino, { type Logger } from "pino";
import type { Config } from "./config.ts";

/** The log of the service: JSON lines on stderr (stdout carries only the READY line), without host name. */
export function createLogger({ logLevel }: Pick<Config, "logLevel">): Logger {
  return pino({ level: logLevel, base: { pid: process.pid } }, pino.destination({ fd: 2, sync: true }));
}
