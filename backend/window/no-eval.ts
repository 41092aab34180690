import { config } from "zod";

/* Imported first: the page's content security policy forbids code made at run time, which zod would try otherwise. */
config({ jitless: true });
