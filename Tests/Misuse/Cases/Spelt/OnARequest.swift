// error: is unavailable: Set order: request.order = [.ascending(\.title)], or [FetchOrder(SortDescriptor(\.title))].
// error: has been renamed to 'limit'
// error: has been renamed to 'offset'
// error: is unavailable: A fetch reads all of its objects. To read a part, set limit and after, or show a list with a window. Remove this line.
// error: is unavailable: Set prefetch to the key paths of the relationships: request.prefetch = [\.author].
// error: is unavailable: Fetched objects have their values. Remove this line.
import CoreDataSource

func request() -> ObjectRequest<Contact> {
    var request = ObjectRequest(Contact.self)
    request.sortDescriptors = []
    request.sortBy = []
    request.fetchLimit = 5
    request.fetchOffset = 5
    request.fetchBatchSize = 20
    request.relationshipKeyPathsForPrefetching = ["group"]
    request.returnsObjectsAsFaults = false
    return request
}
