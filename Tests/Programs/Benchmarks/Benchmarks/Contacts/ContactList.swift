internal import Foundation
internal import RawSQLite

/// The same contacts for both sides: Swift values, and C structs with texts of their own.
struct ContactList: ~Copyable {
    let values: [ContactValue]
    let raw: OpaquePointer

    init(_ values: [ContactValue]) {
        self.values = values
        raw = raw_list_make(values.count)
        for value in values {
            raw_list_add(
                raw, value.uid, value.name, value.note, value.phone, value.age, value.isFavorite ? 1 : 0, value.score,
                value.birthday.timeIntervalSinceReferenceDate)
        }
    }

    init(_ numbers: Range<Int>) {
        self.init(numbers.map { ContactValue($0) })
    }

    deinit {
        raw_list_free(raw)
    }

    /// The list with every hundredth contact renamed.
    func withOnePercentChanged() -> ContactList {
        ContactList(
            values.enumerated().map { index, value in
                var value = value
                if index % 100 == 0 {
                    value.name = "Renamed, " + value.name.suffix(11)
                    value.age += 1
                }
                return value
            })
    }

    var checksum: Int64 { values.reduce(0) { $0 + $1.checksum } }
}
