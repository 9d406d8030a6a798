import CoreDataSource

/// Key paths as the compiler writes them, with the same paths of a format.
enum MazePaths {
    /// Along up to eight relationships.
    static var literals: [(format: String, typed: KeyPath<Room0, String?>)] { first + second }

    /// Along nine relationships: one more than a query follows.
    static var tooLong: [(format: String, typed: KeyPath<Room0, String?>)] {
        [
            (
                "one0.one0.one3.one1.one3.one0.one0.one4.one2.a09",
                \.one0?.one0?.one3?.one1?.one3?.one0?.one0?.one4?.one2?.a09
            ),
            (
                "one2.one2.one1.one3.one0.one1.one3.one2.one3.a04",
                \.one2?.one2?.one1?.one3?.one0?.one1?.one3?.one2?.one3?.a04
            ),
        ]
    }

    private static var first: [(format: String, typed: KeyPath<Room0, String?>)] {
        [
            ("one3.a08", \.one3?.a08),
            ("one2.a02", \.one2?.a02),
            ("one4.a02", \.one4!.a02),
            ("one3.a05", \.one3?.a05),
            ("one4.a07", \.one4?.a07),
            ("one2.a08", \.one2?.a08),
            ("one2.a01", \.one2!.a01),
            ("one0.a01", \.one0?.a01),
            ("one3.one3.a04", \.one3?.one3?.a04),
            ("one3.one2.a09", \.one3?.one2?.a09),
            ("one2.one1.a02", \.one2!.one1!.a02),
            ("one1.one4.a04", \.one1!.one4?.a04),
            ("one3.one1.a03", \.one3?.one1?.a03),
            ("one3.one2.a06", \.one3?.one2?.a06),
            ("one4.one2.a08", \.one4!.one2!.a08),
            ("one3.one3.a04", \.one3!.one3?.a04),
            ("one3.one2.one2.a08", \.one3?.one2?.one2?.a08),
            ("one1.one1.one2.a08", \.one1?.one1?.one2?.a08),
            ("one2.one0.one1.a01", \.one2!.one0!.one1!.a01),
            ("one2.one4.one0.a09", \.one2!.one4?.one0?.a09),
            ("one4.one2.one3.a08", \.one4?.one2?.one3?.a08),
            ("one0.one3.one0.a02", \.one0?.one3?.one0?.a02),
            ("one4.one3.one4.a05", \.one4!.one3!.one4!.a05),
            ("one2.one3.one4.a02", \.one2!.one3?.one4?.a02),
            ("one1.one3.one4.one0.a05", \.one1?.one3?.one4?.one0?.a05),
            ("one0.one1.one3.one4.a07", \.one0?.one1?.one3?.one4?.a07),
            ("one0.one1.one3.one0.a06", \.one0!.one1!.one3!.one0!.a06),
            ("one1.one2.one2.one4.a00", \.one1!.one2?.one2?.one4?.a00),
            ("one2.one2.one0.one3.a07", \.one2?.one2?.one0?.one3?.a07),
            ("one0.one2.one3.one3.a09", \.one0?.one2?.one3?.one3?.a09),
            ("one1.one0.one1.one2.a07", \.one1!.one0!.one1!.one2!.a07),
            ("one3.one0.one1.one1.a07", \.one3!.one0?.one1?.one1?.a07),
        ]
    }

    private static var second: [(format: String, typed: KeyPath<Room0, String?>)] {
        [
            ("one0.one0.one3.one0.one1.a02", \.one0?.one0?.one3?.one0?.one1?.a02),
            ("one4.one2.one0.one4.one1.a05", \.one4?.one2?.one0?.one4?.one1?.a05),
            ("one4.one4.one2.one1.one4.a05", \.one4!.one4!.one2!.one1!.one4!.a05),
            ("one1.one4.one1.one1.one4.a09", \.one1!.one4?.one1?.one1?.one4?.a09),
            ("one1.one1.one3.one0.one4.a03", \.one1?.one1?.one3?.one0?.one4?.a03),
            ("one2.one4.one1.one1.one1.a04", \.one2?.one4?.one1?.one1?.one1?.a04),
            ("one3.one1.one2.one0.one3.a04", \.one3!.one1!.one2!.one0!.one3!.a04),
            ("one0.one3.one2.one0.one3.a04", \.one0!.one3?.one2?.one0?.one3?.a04),
            ("one0.one3.one3.one4.one0.one3.a01", \.one0?.one3?.one3?.one4?.one0?.one3?.a01),
            ("one1.one0.one4.one3.one4.one1.a09", \.one1?.one0?.one4?.one3?.one4?.one1?.a09),
            ("one0.one1.one0.one3.one4.one2.a00", \.one0!.one1!.one0!.one3!.one4!.one2!.a00),
            ("one4.one0.one2.one1.one4.one3.a05", \.one4!.one0?.one2?.one1?.one4?.one3?.a05),
            ("one3.one3.one3.one0.one1.one0.a02", \.one3?.one3?.one3?.one0?.one1?.one0?.a02),
            ("one0.one4.one4.one0.one0.one0.a05", \.one0?.one4?.one4?.one0?.one0?.one0?.a05),
            ("one1.one2.one0.one4.one3.one2.a08", \.one1!.one2!.one0!.one4!.one3!.one2!.a08),
            ("one3.one1.one0.one4.one4.one0.a01", \.one3!.one1?.one0?.one4?.one4?.one0?.a01),
            ("one4.one3.one2.one2.one0.one3.one1.a04", \.one4?.one3?.one2?.one2?.one0?.one3?.one1?.a04),
            ("one0.one0.one3.one3.one1.one4.one4.a05", \.one0?.one0?.one3?.one3?.one1?.one4?.one4?.a05),
            ("one2.one3.one0.one0.one4.one4.one1.a07", \.one2!.one3!.one0!.one0!.one4!.one4!.one1!.a07),
            ("one0.one2.one1.one3.one2.one3.one1.a08", \.one0!.one2?.one1?.one3?.one2?.one3?.one1?.a08),
            ("one1.one4.one2.one1.one2.one2.one0.a00", \.one1?.one4?.one2?.one1?.one2?.one2?.one0?.a00),
            ("one0.one1.one0.one4.one2.one4.one3.a03", \.one0?.one1?.one0?.one4?.one2?.one4?.one3?.a03),
            ("one4.one1.one1.one4.one1.one1.one0.a01", \.one4!.one1!.one1!.one4!.one1!.one1!.one0!.a01),
            ("one2.one4.one0.one1.one0.one4.one0.a05", \.one2!.one4?.one0?.one1?.one0?.one4?.one0?.a05),
            ("one4.one3.one0.one4.one1.one2.one1.one2.a01", \.one4?.one3?.one0?.one4?.one1?.one2?.one1?.one2?.a01),
            ("one2.one1.one0.one1.one2.one3.one1.one0.a03", \.one2?.one1?.one0?.one1?.one2?.one3?.one1?.one0?.a03),
            ("one1.one4.one4.one1.one1.one2.one4.one4.a03", \.one1!.one4!.one4!.one1!.one1!.one2!.one4!.one4!.a03),
            ("one2.one4.one4.one4.one4.one0.one1.one3.a03", \.one2!.one4?.one4?.one4?.one4?.one0?.one1?.one3?.a03),
            ("one4.one2.one3.one4.one3.one2.one0.one0.a07", \.one4?.one2?.one3?.one4?.one3?.one2?.one0?.one0?.a07),
            ("one0.one1.one3.one3.one3.one4.one1.one4.a09", \.one0?.one1?.one3?.one3?.one3?.one4?.one1?.one4?.a09),
            ("one2.one0.one3.one3.one1.one1.one1.one0.a00", \.one2!.one0!.one3!.one3!.one1!.one1!.one1!.one0!.a00),
            ("one2.one3.one3.one1.one4.one1.one0.one1.a08", \.one2!.one3?.one3?.one1?.one4?.one1?.one0?.one1?.a08),
        ]
    }
}
