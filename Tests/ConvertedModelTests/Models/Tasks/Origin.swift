import CoreDataSource
import Foundation

@StoredComposite
nonisolated struct Origin {
    var cost: Int = 0
    @StoredPart(raw: String.self, default: "office") var venue: Venue
    @StoredPart(raw: String.self) var detour: Venue?
}
