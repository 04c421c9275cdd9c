"""`corrigenda calibrate`: k, floor and ceiling fitted on the user's own labelled examples, with what they trade."""
