/* The core as one translation unit, in pipeline order: also its table of contents. */
#include "base/base.c"                        /* budgets, vectors */
#include "base/index.c"                       /* ids by hash */
#include "base/intern.c"                      /* hash-consing */
#include "base/file.c"                        /* tables as files */
#include "base/wide.c"                        /* many words or bytes at a time */
#include "base/lock.c"                        /* locks, and forks */
#include "base/threads.c"                     /* threads of a call */
#include "regex/rx_arena.c"                   /* 3 expressions: each once, and what is known of it */
#include "regex/rx_node.c"                    /*   constructors and their laws */
#include "regex/rx_loop.c"                    /*   ... parts of a union that a loop contains */
#include "regex/rx_narrow.c"                  /*   ... or that are others with more conditions */
#include "regex/rx_chars.c"                   /*   code points and literals as tries */
#include "regex/rx_quote.c"                   /*   JSON string quoting as an operator */
#include "regex/rx_fork.c"                    /*   unions as trees */
#include "regex/rx_multiple.c"                /*   decimal multiples */
#include "regex/names/rx_ulabel.c"            /*   labels of internationalised host names */
#include "regex/names/rx_punycode.c"          /*   ... in Punycode */
#include "regex/names/rx_label.c"             /*   ... how many octets they take */
#include "regex/names/rx_grow_digits.c"       /*   ... in how many digits */
#include "regex/names/rx_grow_rest.c"         /*   ... of longer ones, at least */
#include "regex/names/rx_grow.c"              /*   ... and how few, with more characters */
#include "regex/names/rx_name_label.c"        /*   ... while one is read */
#include "regex/names/rx_name.c"              /*   ... in names */
#include "regex/rx_length.c"                  /*   ... how many characters an expression has */
#include "regex/rx_frontier.c"                /*   searches among derivatives */
#include "regex/rx_ending.c"                  /*   ... a short way to its end */
#include "regex/names/rx_fit.c"               /*   ... whether names fit in their bounds */
#include "regex/names/rx_unbound.c"           /*   ... and that where the bounds do not matter */
#include "regex/names/rx_barred.c"            /*   ... where names are barred */
#include "regex/syntax/rx_syntax.c"           /*   regular expressions as texts */
#include "regex/syntax/rx_syntax_node.c"      /*   ... as a kind of expression */
#include "regex/rx_derive.c"                  /*   derivatives, byte classes, emptiness */
#include "regex/rx_count.c"                   /*   how many strings an expression has */
#include "regex/rx_first.c"                   /*   first bytes */
#include "regex/rx_beyond.c"                  /*   ... and first characters beyond ASCII */
#include "regex/rx_differ.c"                  /*   bytes at which two expressions differ */
#include "regex/rx_must.c"                    /*   bytes that must be there */
#include "regex/rx_local.c"                   /*   bytes that one expression does not tell apart */
#include "regex/rx_clamp.c"                   /*   repeats without bounds that a token cannot reach */
#include "regex/rx_room.c"                    /*   ... without the most characters of a string */
#include "regex/rx_widen.c"                   /*   supersets with few derivatives */
#include "regex/rx_least.c"                   /*   shortest strings */
#include "regex/rx_absorb.c"                  /*   what any plain text leaves alive */
#include "regex/rx_survive.c"                 /*   ... and what some of it does not */
#include "regex/patterns/rx_unicode_tables.c" /*   code points by property (generated) */
#include "regex/patterns/rx_class.c"          /*   \d \w \s \p{...}, case folding */
#include "regex/patterns/rx_anchor.c"         /*   ^ $ \b as conditions on the text around */
#include "regex/patterns/rx_future.c"         /*   ... all that may follow, to the end of the text */
#include "regex/patterns/rx_read.c"           /*   pattern text -> code points and classes */
#include "regex/patterns/rx_operand.c"        /*   ... shifted and reduced */
#include "regex/patterns/rx_look.c"           /*   ... look-around that sees no further than its branch */
#include "regex/patterns/rx_ahead.c"          /*   ... and look-aheads that do */
#include "regex/patterns/rx_parse.c"          /*   pattern text -> expressions */
#include "grammar/gr_lay.c"                   /*   bags: where the counts are */
#include "grammar/gr_bag.c"                   /*   ... and what can still be finished */
#include "grammar/gr_compile.c"               /*   rules -> flat suffixes */
#include "grammar/ir.c"                       /*   the IR from Python */
#include "lexer/lx.c"                         /* 4 lexer states */
#include "lexer/lx_union.c"                   /*   unions over sets that change one by one; groups of lexemes */
#include "lexer/lx_value.c"                   /*   values of scalars, and lexemes without some of them */
#include "lexer/lx_least.c"                   /*   values in the order of their lengths */
#include "parser/ep.c"                        /*   Earley rows */
#include "parser/ep_complete.c"               /*   ... scanning and completion */
#include "parser/ep_cut.c"                    /*   ... rows without their return points */
#include "parser/ep_predict.c"                /*   ... prediction and return points */
#include "parser/ep_first.c"                  /*   ... what a row may begin with */
#include "parser/ep_make.c"                   /*   ... rules made on demand: lists and bags */
#include "parser/ep_least.c"                  /*   ... the least that may still come */
#include "parser/ep_costs.c"                  /*   ... of members of bags */
#include "parser/ep_least_search.c"           /*   ... of several, with conditions */
#include "parser/ep_least_bag.c"              /*   ... in bags */
#include "parser/ep_least_choice.c"           /*   ... that meet choices between keys */
#include "parser/ep_least_slots.c"            /*   ... where that is a sum over slots */
#include "vocab/tt.c"                         /* 5 the trie of tokens */
#include "vocab/fd.c"                         /*   tokens by strings of byte classes */
#include "vocab/vb.c"                         /*   vocabularies */
#include "vocab/vb_store.c"                   /*   ... lexeme-internal masks of all grammars */
#include "vocab/vb_rows.c"                    /*   ... equal rows of these once */
#include "vocab/vb_tails.c"                   /*   ... what is left of tokens that leave a lexeme */
#include "vocab/vb_fold.c"                    /*   ... folded */
#include "vocab/vb_shapes.c"                  /*   ... by kinds of bytes, for analyses */
#include "vocab/vb_reach.c"                   /*   ... by what they add to host names */
#include "vocab/vb_open.c"                    /*   ... below quotation marks */
#include "vocab/vb_own.c"                     /*   slices that a user lists */
#include "vocab/vb_file.c"                    /*   vocabularies as files */
#include "vocab/vb_spell.c"                   /*   the fewest tokens for a text */
#include "engine/un.c"                        /* 6 arrays whose items all differ: values, tracks */
#include "engine/cf.c"                        /*   configurations */
#include "engine/cf_alive.c"                  /*   ... can what has begun be completed, with another value than those before */
#include "engine/cf_clamp.c"                  /*   of counted text far from its bound */
#include "mask/mk_slice.c"                    /*   what a state reads of all plain text */
#include "mask/mk_own.c"                      /*   ... and of slices that the user lists */
#include "mask/mk_loops.c"                    /*   what below a node stays inside a lexeme */
#include "mask/mk_open.c"                     /*   what begins a string within a token */
#include "mask/mk_syntax.c"                   /*   masks within regular expressions as texts, from a looser state */
#include "mask/mk_beyond.c"                   /*   characters beyond ASCII, for many states at once */
#include "mask/mk_literals.c"                 /*   what is spelt out */
#include "mask/mk_walk.c"                     /*   walks of the vocabulary */
#include "mask/mk_outline.c"                  /*   ... made once for many rows */
#include "mask/mk_exits.c"                    /*   ... where lexemes end in these */
#include "mask/mk_share.c"                    /*   ... and kept with the vocabulary */
#include "mask/mk_lexeme.c"                   /*   ... by token automata of lexemes */
#include "mask/mk_ring.c"                     /*   outlines whose rows come back to themselves */
#include "mask/mk_unit.c"                     /*   ... into what alternatives are taken apart */
#include "mask/mk_analyse.c"                  /*   ... the analysis of a part */
#include "mask/mk_shapes.c"                   /*   ... by shapes of tokens */
#include "mask/mk_plain.c"                    /*   ... by what plain text does not leave alive */
#include "mask/mk_dense.c"                    /*   ... by all plain tokens at once */
#include "mask/mk_room.c"                     /*   ... of counted text without its bound */
#include "mask/mk_key.c"                      /*   ... keys of parts */
#include "mask/mk_inner.c"                    /*   ... lexeme-internal masks */
#include "mask/mk_tails.c"                    /*   ... tails that no row can read */
#include "mask/mk_model.c"                    /*   ... as another one, but for a few tokens */
#include "mask/mk_keep.c"                     /*   masks that are kept */
#include "mask/mk_table.c"                    /*   ... or were made ahead of time */
#include "mask/mk_name.c"                     /*   ... where names have a bound */
#include "mask/mk_near.c"                     /*   ... where counted text comes near its bound */
#include "mask/mk_bar.c"                      /*   ... where names are barred */
#include "mask/mk_parts.c"                    /*   masks by their parts */
#include "mask/mk_heir.c"                     /*   ... by their difference from another one */
#include "mask/mk_unique.c"                   /*   ... without tokens that make items equal */
#include "mask/mk_longest.c"                  /*   ... with lexing="longest" */
#include "mask/mk.c"                          /*   masks */
#include "mask/mk_ahead.c"                    /*   ... before they are asked for */
#include "closing/cl.c"                       /*   closings: shortest ways to the end */
#include "closing/ct_lexeme.c"                /*   ... what lexemes cost in tokens */
#include "closing/ct_rows.c"                  /*   ... what symbols cost */
#include "closing/ct_members.c"               /*   ... what lists and bags cost */
#include "closing/ct_order.c"                 /*   ... what members in any order cost */
#include "closing/ct_least.c"                 /*   ... the fewest tokens that may still come */
#include "closing/ct_apart.c"                 /*   ... in a string, by its conditions */
#include "closing/ct_values.c"                /*   ... texts that differ in values alone */
#include "closing/ct_next.c"                  /*   ... what one token leads to */
#include "closing/ct.c"                       /*   ... and others of fewer tokens */
#include "engine/en.c"                        /*   engines */
#include "match/qs.c"                         /*   what is asked of a configuration */
#include "match/mt_read.c"                    /*   what a token does */
#include "match/mt.c"                         /*   matchers */
#include "match/bt.c"                         /*   batches of them */
#include "match/tn.c"                         /*   turns of a decoding loop */
#include "match/ap.c"                         /*   masks applied to scores */
#include "dfa/mn.c"                           /*   ahead of time: minimisation */
#include "dfa/ba.c"                           /*   ... the byte automaton of a grammar */
#include "dfa/td_runs.c"                      /*   ... literals with one spelling */
#include "dfa/td_behave.c"                    /*   ... classes of tokens by what they do */
#include "dfa/td_reduce.c"                    /*   ... the automaton that tokens see */
#include "dfa/td_pack.c"                      /*   ... as tables */
#include "dfa/td_file.c"                      /*   ... and files */
#include "dfa/td.c"                           /*   token automata */
#include "dfa/gd.c"                           /*   ... and guides */
