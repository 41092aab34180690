import { z } from "zod";

// zod would try `new Function`, which the page's content security policy forbids. Comes before any contract is imported.
z.config({ jitless: true });
