internal import Foundation
internal import RawSQLite

/// A contact as an app has it: uid of 12 bytes, name of 20, note of 60.
struct ContactValue: Sendable {
    var uid: String
    var name: String
    var note: String
    var phone: String?
    var age: Int32
    var score: Double
    var birthday: Date
    var isFavorite: Bool
}

extension ContactValue {
    /// The contact of that number. Uids come in order, as keys of servers do; names do not.
    init(_ number: Int) {
        let scattered = number &* 48_271 % 10_000_000
        uid = "uid-" + padded(number, 8)
        name = "Contact name " + padded(scattered, 7)
        note = "Met at the conference of the year 2001, seat number " + padded(scattered, 8)
        phone = number % 4 == 0 ? nil : "+49 30 " + padded(number, 7)
        age = Int32(number % 90)
        score = Double(number % 1000) + 0.5
        birthday = Date(timeIntervalSinceReferenceDate: Double(number % 20_000) * 86_400)
        isFavorite = number % 7 == 0
    }

    /// What an SQL query of all columns' sums adds for this contact.
    var checksum: Int64 {
        let texts = uid.utf8.count + name.utf8.count + note.utf8.count + (phone?.utf8.count ?? 0)
        let days = birthday.timeIntervalSinceReferenceDate / 86_400
        return Int64(texts) + Int64(age) + Int64(score) + Int64(days) + (isFavorite ? 1 : 0)
    }

    /// The sum of ``checksum`` over a table.
    static let checksumSQL =
        "SELECT coalesce(sum(length(uid) + length(name) + length(note) + coalesce(length(phone), 0) + age "
        + "+ CAST(score AS INTEGER) + CAST(birthday / 86400 AS INTEGER) + isFavorite), 0) FROM ContactEntity"
}

/// The number in decimal, with zeros before it.
private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
